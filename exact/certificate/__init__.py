"""What is proved about a point: witness, certificate, order, audit, solution."""
