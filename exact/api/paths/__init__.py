"""What paths consist of, and what folds make of them."""
