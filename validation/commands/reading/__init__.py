"""What commands take: tables by names, options of the problem, and model files."""
