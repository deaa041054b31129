"""Incomplete U-statistics [ScalingUp 2]."""
