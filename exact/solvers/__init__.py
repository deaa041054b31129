"""One algorithm a file. Closed to `approx`."""
