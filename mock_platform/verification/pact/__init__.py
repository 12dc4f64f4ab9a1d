"""Pact files: what a client exercised, as a contract that a verifier can check against a server.

`recorded` takes what goes in from a world, with the state before each request; `document` writes
each as an interaction, with rules from its schema.
"""
