"""Partial AUC: mixtures of minorants for what smoothing leaves."""
