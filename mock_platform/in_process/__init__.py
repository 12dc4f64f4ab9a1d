"""Calls from the same process: a `requests.Session` that needs no socket."""
