"""The reference problems: rows, values of lam, and optima proved in exact arithmetic."""
