"""Linear models that other programs saved."""
