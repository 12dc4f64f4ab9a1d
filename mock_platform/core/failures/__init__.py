"""Failures: their names, problem types and codes, and how each dialect renders them."""
