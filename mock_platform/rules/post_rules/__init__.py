"""The language of rules and queries, by which filtered streams and searches choose posts."""
