"""Rows in partitions whose pairs are those within a group: ranking by query, say."""
