"""HTTP archives (HAR 1.2): reading them from any program, and writing them without secrets."""
