"""The example request of an operation: values with which the default fixtures answer it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

MINUTE = "$minute"
"""Placeholder for the current minute in UTC, yyyymmddhhmm."""
PUBLISHED_CLIENT_ID = "{client_id}"
PUBLISHED_CALLBACK = "{callback}"
PUBLISHED_BEARER_TOKEN = "{bearer_token}"
PUBLISHED_USER_TOKEN = "{oauth2_access_token}"
"""In the place of these an example has values of the published credentials."""
NEW_REQUEST_TOKEN, NEW_VERIFIER, NEW_CODE = (
    f"{name}-made-when-this-is-sent" for name in ("request_token", "verifier", "code")
)
"""In the place of these the interactive documentation gets values with requests of its own."""


class Example(Struct, frozen=True):
    """What an example request has beside what follows from the declaration and the fixtures.

    Example:
        >>> example = Example(path={"card_id": "57i8b"}, query={"name": "Roast"})
        >>> example.json is None, example.is_refused
        (True, False)
    """

    path: Mapping[str, str] = field(default_factory=dict)
    """Values of path parameters, where the first fitting record of the fixtures does not do."""
    query: Mapping[str, str] | None = None
    """Without it, the required parameters are there with values that their fields take."""
    json: Any = None
    form: Mapping[str, str] | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    """Further values of the query, on which scenarios of the package depend."""
    authorization: str = ""
    """The header, if it is not that of the published credentials."""
    is_refused: bool = False
    """Whether a fresh world refuses it: it needs a step before, a page on which a user clicks, a
    receiver, or a record that the default fixtures do not have.
    """
    before: tuple[str, str] | None = None
    """Method and path of a request that the interactive documentation sends first."""
    page_values: Mapping[str, str] = field(default_factory=dict)
    """Parameters that are others in the interactive documentation."""
