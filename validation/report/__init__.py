"""What a run of the claims found, as JSON and as a page."""
