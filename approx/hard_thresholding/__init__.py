"""K nonzeros [SHT]."""
