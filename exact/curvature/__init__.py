"""Second order of the squared hinge, shared with approx.newton."""
