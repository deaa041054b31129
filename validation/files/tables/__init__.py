"""Reading tables: CSV, NumPy archives, Parquet, svmlight, and which of their columns."""
