"""The sandbox against the real service: recordings, comparisons, contracts, coverage."""
