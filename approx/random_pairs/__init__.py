"""One random pair a step. [Nonlinear, Section 4.2]"""
