"""What is asked: pairs, loss, penalty, labels, scalings."""
