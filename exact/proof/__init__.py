"""The proof file and the one-file checker."""
