"""The tables and figures of SHT."""
