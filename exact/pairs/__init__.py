"""Which pairs of rows count, and how much; and statistics of them."""
