"""The two numbers of a certificate, F and a lower bound of it, each with a bound of rounding."""
