"""From data to the problem meant and the problem worked on."""
