"""SAUC's class structure."""
