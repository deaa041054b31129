"""Sums over all pairs without the pairs, in their forms; works on arrays, knows no Problem."""
