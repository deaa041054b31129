"""What every estimator shares: labels, threshold, saving."""
