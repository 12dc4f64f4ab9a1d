"""Believable events of every type, for tests that only say that something happens."""
