"""The tables that several families share: one module per group, records as they are served.

A table that only one family reads is declared in that family's module.
"""
