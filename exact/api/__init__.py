"""What users call: `solve`, `certify`, paths, estimators. Closed to `approx`."""
