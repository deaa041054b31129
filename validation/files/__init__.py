"""What users have on disk: tables, vectors, labels, and the files that are written."""
