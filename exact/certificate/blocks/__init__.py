"""Evaluations of a hinge problem over blocks of rows, on several threads."""
