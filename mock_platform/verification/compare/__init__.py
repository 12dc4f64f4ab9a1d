"""Comparison: where another server answers differently from this sandbox, and what that means.

`plan` chooses the operations and derives the requests from them, `check` sends these to both
servers, `exchange` and `rules` compare the answers. `findings` puts equal differences together,
`accepted` knows which are expected, `report` writes them.
"""
