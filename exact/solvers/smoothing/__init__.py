"""Newton steps on the smoothed hinge, at one width after another."""
