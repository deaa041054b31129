"""The tables of ScalingUp."""
