"""The claims of this project about its certificates beyond the papers' pairs."""
