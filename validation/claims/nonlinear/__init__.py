"""The claims of "Scalable Nonlinear AUC Maximization Methods" [Nonlinear]."""
