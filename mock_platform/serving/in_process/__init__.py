"""Calls in the same process: a `requests.Session` that needs no socket."""
