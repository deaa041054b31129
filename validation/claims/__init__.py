"""The claims of the papers, and what a claim is."""
