"""Partial AUC: Newton steps on smoothed row weights, and mixtures of minorants for the rest."""
