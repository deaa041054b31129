"""Landmarks, and the features made of them. [ScalingUp, Section 3]"""
