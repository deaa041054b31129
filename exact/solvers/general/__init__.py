"""The general solver: any loss, pairs and penalty that keep their contracts."""
