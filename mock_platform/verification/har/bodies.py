"""Fields and bodies of an archive's entries: encoded, packed, attached, or as lists."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

# Reads the fields of an entry, and says which one is not as an archive has it.


class BadField(Exception):
    """A field of an entry that is not what an archive may have there."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(f"{field}: {text}")


def read_object(holder: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    """Returns an object; an empty one if it is missing."""
    found = holder.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _refuse(where, name, "an object", found)
    return found


def require_object(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Returns an object that must be there."""
    if name not in holder:
        raise BadField(name, "is missing")
    return read_object(holder, name, "")


def read_list(holder: Mapping[str, Any], name: str, where: str) -> list[Any]:
    """Returns a list; an empty one if it is missing."""
    found = holder.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise _refuse(where, name, "a list", found)
    return found


def read_text(holder: Mapping[str, Any], name: str, where: str) -> str | None:
    """Returns a string; `None` if it is missing."""
    found = holder.get(name)
    if found is not None and not isinstance(found, str):
        raise _refuse(where, name, "a string", found)
    return found


def require_text(holder: Mapping[str, Any], name: str, where: str) -> str:
    """Returns a string that must be there and not be empty."""
    found = read_text(holder, name, where)
    if not found:
        raise BadField(f"{where}.{name}", "is missing")
    return found


def read_number(holder: Mapping[str, Any], name: str) -> float:
    """Returns a number of milliseconds, 0 if it is missing or negative."""
    found = holder.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return 0.0
    return max(float(found), 0.0)


def read_size(holder: Mapping[str, Any], name: str, where: str) -> int | None:
    """Returns a number of bytes; `None` if it is missing or -1, which means unknown."""
    found = holder.get(name)
    if found is None or found == -1:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or found < 0:
        raise _refuse(where, name, "a number of bytes, or -1", found)
    return int(found)


def _refuse(where: str, name: str, wanted: str, found: object) -> BadField:
    field = f"{where}.{name}" if where else name
    return BadField(field, f"must be {wanted}, not {found!r:.60}")


Attached = Callable[[str], bytes | None]
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_STARTS = {"gzip": b"\x1f\x8b", "x-gzip": b"\x1f\x8b", "deflate": b"\x78"}
_BOUNDARY = re.compile(r"boundary\s*=\s*\"?([^\";,\s]+)", re.ASCII | re.IGNORECASE)
_FORM = "application/x-www-form-urlencoded"


class Body:
    """The bytes of a body, whether they are all, and what is doubtful about them."""

    def __init__(self) -> None:
        self.data = b""
        self.is_whole = True
        self.notes: list[str] = []

    def miss(self, note: str) -> None:
        """Note that the archive does not hold the whole body, and why."""
        self.is_whole = False
        self.notes.append(note)


def read_content(
    response: Mapping[str, Any], encoding: str, attached: Attached, limit: int
) -> Body:
    """Returns the body of a response; `encoding` is its header Content-Encoding.

    Raises:
        BadField: What the entry says about its body cannot be true.
    """
    body = Body()
    content = read_object(response, "content", "response")
    size = read_size(content, "size", "response.content")
    if (name := content.get("_file")) is not None:
        found = attached(name) if isinstance(name, str) else None
        if found is None:
            body.miss(_describe_missing(name))
        else:
            body.data = _unpack(found, encoding, limit)
        return body
    text = read_text(content, "text", "response.content")
    if text is None:
        size = size or read_size(response, "bodySize", "response") or _read_length(response)
        if size:
            body.miss(f"the archive does not hold the body of {size:,} bytes")
        return body
    body.data = _decode(content, "response.content", text, body)
    if content.get("encoding") == "base64":
        body.data = _unpack(body.data, encoding, limit)
    if (
        size is not None
        and size > len(body.data)
        and (size > 2 * len(body.data) or _says_cut(content))
    ):
        body.miss(f"the body has {len(body.data):,} bytes in the archive, and had {size:,}")
    return body


def read_post_data(request: Mapping[str, Any], attached: Attached) -> Body:
    """Returns the body of a request.

    Raises:
        BadField: What the entry says about its body cannot be true.
    """
    body = Body()
    where = "request.postData"
    posted = read_object(request, "postData", "request")
    if (name := posted.get("_file")) is not None:
        found = attached(name) if isinstance(name, str) else None
        if found is None:
            body.miss(_describe_missing(name))
        body.data = found or b""
        return body
    text = read_text(posted, "text", where)
    if text:
        body.data = _decode(posted, where, text, body)
    elif params := read_list(posted, "params", where):
        kind = read_text(posted, "mimeType", where) or _FORM
        body.data = _join(params, kind, body)
    if _says_cut(posted):
        body.miss("the archive holds only the beginning of the request's body")
    return body


def _describe_missing(name: object) -> str:
    return (
        f"the attached file {name!r:.80} is missing or too large, or not named as an attached "
        "file: 40 hexadecimal digits and an ending"
    )


def _read_length(response: Mapping[str, Any]) -> int:
    """Returns the length that a response declares for a body which may be missing."""
    if response.get("status") == 304:
        return 0
    for header in read_list(response, "headers", "response"):
        if isinstance(header, dict) and str(header.get("name")).lower() == "content-length":
            value = str(header.get("value"))
            return int(value) if value.isdecimal() and len(value) < 16 else 0
    return 0


def _decode(holder: Mapping[str, Any], where: str, text: str, body: Body) -> bytes:
    encoding = holder.get("encoding") or holder.get("_encoding")
    if encoding in {None, "", "utf-8", "utf8"}:
        try:
            return text.encode()
        except UnicodeEncodeError:
            body.notes.append(f"{where}.text has characters that no encoding has")
            return text.encode("utf-8", "replace")
    if encoding != "base64":
        raise BadField(f"{where}.encoding", f"{encoding!r:.40} is unknown; allowed: base64")
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as fault:
        raise BadField(f"{where}.text", f"not base64, as its encoding claims: {fault}") from fault


def _unpack(data: bytes, encoding: str, limit: int) -> bytes:
    """Returns a body without the compression that a program left in place."""
    name = encoding.strip().lower()
    if name not in _WINDOWS or not data.startswith(_STARTS[name]):
        return data
    unpacker = zlib.decompressobj(_WINDOWS[name])
    try:
        found = unpacker.decompress(data, limit + 1)
    except zlib.error as fault:
        text = f"not {name}, as the header Content-Encoding claims: {fault}"
        raise BadField("response.content.text", text) from fault
    if len(found) > limit:
        raise BadField("response.content.text", f"unpacks to more than {limit // 1024**2} MB")
    if not unpacker.eof:
        raise BadField("response.content.text", f"the {name} body is cut off")
    return found


def _join(params: list[Any], kind: str, body: Body) -> bytes:
    """Returns the body that a list of fields describes."""
    where = "request.postData.params"
    fields = [param for param in params if isinstance(param, dict)]
    if len(fields) != len(params) or not all(isinstance(each.get("name"), str) for each in fields):
        raise BadField(where, "each must be an object with a name")
    if not kind.lower().startswith("multipart/"):
        return urlencode([(each["name"], str(each.get("value") or "")) for each in fields]).encode()
    from urllib3.fields import RequestField
    from urllib3.filepost import encode_multipart_formdata

    parts = []
    for each in fields:
        part = RequestField(each["name"], str(each.get("value") or ""), each.get("fileName"))
        part.make_multipart(content_type=each.get("contentType") or None)
        parts.append(part)
        if each.get("fileName") and not each.get("value"):
            body.miss(f"the archive does not hold the file {each['fileName']!r:.80}")
    boundary = _BOUNDARY.search(kind)
    return encode_multipart_formdata(parts, boundary[1] if boundary else None)[0]


def _says_cut(holder: Mapping[str, Any]) -> bool:
    """Whether the sandbox's own archive says that it cut this body."""
    return str(holder.get("comment", "")).startswith("cut after ")
