"""Incomplete U-statistics: full-batch descent on drawn pairs. [ScalingUp, Section 2]"""
