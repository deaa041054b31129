"""Landmarks and features."""
