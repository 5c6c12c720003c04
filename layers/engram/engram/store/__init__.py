"""The truth: keys, items and the few transactions, written once on the Table port."""
