"""One pair a step [Nonlinear 4.2], OAM."""
