"""Some of the rows in partitions: folds, and the engine that runs tasks on them."""
