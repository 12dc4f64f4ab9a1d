"""Programs that tests run as they are; none of them is imported."""
