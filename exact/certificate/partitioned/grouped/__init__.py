"""Evaluations of ordered pairs whose groups lie whole in partitions."""
