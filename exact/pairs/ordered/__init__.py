"""Pairs ordered by a key within groups: queries, grades, survival, groups of people."""
