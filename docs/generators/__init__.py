"""What writes the generated pages of `docs/`. `make docs` runs it; the package does not hold it."""
