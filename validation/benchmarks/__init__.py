"""Ratios measured inside one run: `python -m aucert.validation.benchmarks.NAME`."""
