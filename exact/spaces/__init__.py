"""Where f lives: rows, kernels, Gram matrices, rows in blocks."""
