"""Rows in partitions, read wherever they lie: files, other processes, a cluster."""
