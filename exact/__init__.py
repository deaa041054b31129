"""The problem, stated exactly and solved with a certificate."""
