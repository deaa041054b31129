"""The penalties: one file each, and the list of ours."""
