"""What parts of one's own are held to when a problem is made."""
