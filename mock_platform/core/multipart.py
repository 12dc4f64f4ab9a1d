"""Reads bodies of multipart forms, by the parser of Werkzeug that does no input and output."""

from __future__ import annotations

from mock_platform.core.failures.errors import BadBody

_MOST_PARTS = 100


def read_parts(body: bytes, content_type: str) -> list[tuple[str, bytes]]:
    """Return the parts of a multipart form in order: their names and contents.

    Raises:
        BadBody: It is not one, or has more than 100 parts.
    """
    # Loaded here, because the platform without a server works where Werkzeug is not installed.
    from werkzeug.exceptions import RequestEntityTooLarge
    from werkzeug.http import parse_options_header
    from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder, NeedData

    boundary = parse_options_header(content_type)[1].get("boundary")
    if not boundary:
        raise BadBody("The Content-Type multipart/form-data needs a boundary.")
    decoder = MultipartDecoder(boundary.encode("latin-1", "replace"), max_parts=_MOST_PARTS)
    parts: list[tuple[str, list[bytes]]] = []
    try:
        decoder.receive_data(body)
        decoder.receive_data(None)
        while not isinstance(event := decoder.next_event(), Epilogue | NeedData):
            if isinstance(event, Field | File):
                parts.append((_require_name(event.name), []))
            elif isinstance(event, Data):
                parts[-1][1].append(event.data)
    except RequestEntityTooLarge as fault:
        raise BadBody(f"The multipart form has more than {_MOST_PARTS} parts.") from fault
    except (ValueError, KeyError) as fault:
        raise BadBody("The body is not a complete multipart form.") from fault
    return [(name, b"".join(pieces)) for name, pieces in parts]


def _require_name(name: str | None) -> str:
    if name is None:  # although Werkzeug declares a text
        raise BadBody("A part of the multipart form has no name.")
    return name
