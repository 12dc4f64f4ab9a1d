"""Cases: a world with its requests as one file, which opens elsewhere as exactly that world."""
