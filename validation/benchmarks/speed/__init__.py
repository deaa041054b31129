"""The page on speed: peers on one objective, times in readings, scaling, whole pieces of work."""
