"""Whose claims these are."""

from __future__ import annotations

PAPER = "ScalingUp"
