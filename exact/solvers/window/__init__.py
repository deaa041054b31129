"""The pairs near the margin, and their small problem."""
