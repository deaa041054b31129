"""What streams of rows share."""
