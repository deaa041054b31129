"""The claims of "Scaling Up ROC-Optimizing Support Vector Machines" [ScalingUp]."""
