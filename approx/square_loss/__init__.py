"""Stochastic methods for the square loss: SOLAM, SPAM, FSAUC. [SHT, Section IV]"""
