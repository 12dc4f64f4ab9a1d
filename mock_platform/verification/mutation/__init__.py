"""Whether tests notice that the platform fails: the report of `pytest --mock-mutate`."""
