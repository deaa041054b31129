"""Published claims, and anybody's solver, checked against the exact answers."""
