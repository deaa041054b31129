"""One loss a file: its formula, its dual part, its sums over all pairs."""
