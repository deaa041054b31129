"""Branch and bound and its rivals."""
