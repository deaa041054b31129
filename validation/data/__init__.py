"""Labelled data sets by name, the papers' generators, and the real sets of a user's folder."""
