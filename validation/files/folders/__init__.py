"""Folders of Parquet files, whose rows are read where they lie."""
