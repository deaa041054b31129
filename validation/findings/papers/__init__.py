"""Findings of each paper, and how they are judged."""
