"""Rules that several families of operations share."""
