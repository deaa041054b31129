"""How the parts of a table are run, kept and resumed."""
