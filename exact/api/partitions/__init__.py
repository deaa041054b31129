"""Estimators fitted to rows in partitions."""
