"""What the literature proposes to make the problem cheap, and the rivals; one algorithm a file."""
