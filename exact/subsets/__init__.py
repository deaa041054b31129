"""The search for the best subset of features; `exact.best_subset` is its function."""
