"""The squared hinge by truncated Newton. [Nonlinear, Section 4.1]"""
