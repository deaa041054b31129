"""Findings: what a paper says that its experiments show, judged from our run of the same tables."""
