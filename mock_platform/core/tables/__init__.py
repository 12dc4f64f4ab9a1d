"""What a table of records is: its schema and references, its fixtures, and its state for people.

Each subject declares its own tables, in its folder; `api.served` has them all.
"""
