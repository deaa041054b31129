"""The tables and figures of SAUC."""
