"""Evaluations of a hinge problem whose rows lie in partitions."""
