"""The contract as one document, and what a client feels when it changes.

`document` makes the document, and reads it or a plain OpenAPI file; `rules` says how grave each
kind of change is, `compare` finds the changes, those of schemas with `schemas`.
"""
