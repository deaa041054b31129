"""The claims of "Stochastic Hard Thresholding Algorithms for AUC Maximization" [SHT]."""
