"""Reads HTTP archives (HAR 1.2) entry by entry, as browsers, proxies and the sandbox write them."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import orjson

from mock_platform.verification.har.archive import (
    MAX_ENTRY_BYTES,
    OpenArchive,
    RawEntry,
    Unreadable,
    open_archive,
    split_entries,
)
from mock_platform.verification.har.exchange import (
    BadHar,
    HarExchange,
    HarPlace,
    HarRequest,
    HarResponse,
    Pairs,
)

# Reads the fields of an entry, and says which one is not as an archive has it.


class BadField(Exception):
    """A field of an entry that is not what an archive may have there."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(f"{field}: {text}")


def read_object(holder: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    """Return an object; an empty one if it is missing."""
    found = holder.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _refuse(where, name, "an object", found)
    return found


def require_object(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object that must be there."""
    if name not in holder:
        raise BadField(name, "is missing")
    return read_object(holder, name, "")


def read_list(holder: Mapping[str, Any], name: str, where: str) -> list[Any]:
    """Return a list; an empty one if it is missing."""
    found = holder.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise _refuse(where, name, "a list", found)
    return found


def read_text(holder: Mapping[str, Any], name: str, where: str) -> str | None:
    """Return a string; `None` if it is missing."""
    found = holder.get(name)
    if found is not None and not isinstance(found, str):
        raise _refuse(where, name, "a string", found)
    return found


def require_text(holder: Mapping[str, Any], name: str, where: str) -> str:
    """Return a string that must be there and not be empty."""
    found = read_text(holder, name, where)
    if not found:
        raise BadField(f"{where}.{name}", "is missing")
    return found


def read_number(holder: Mapping[str, Any], name: str) -> float:
    """Return a number of milliseconds, 0 if it is missing or negative."""
    found = holder.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return 0.0
    return max(float(found), 0.0)


def read_size(holder: Mapping[str, Any], name: str, where: str) -> int | None:
    """Return a number of bytes; `None` if it is missing or -1, which means unknown."""
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
    """Return the body of a response; `encoding` is its header Content-Encoding.

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
    """Return the body of a request.

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
    """Return the length that a response declares for a body which may be missing."""
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
    """Return a body without the compression that a program left in place."""
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
    """Return the body that a list of fields describes."""
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


_PHASES = ("blocked", "dns", "connect", "ssl", "send", "wait", "receive")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S", re.ASCII)
_METHOD = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)


def read_har(path: Path, max_entry_bytes: int = MAX_ENTRY_BYTES) -> Iterator[HarExchange]:
    """Yield the exchanges of an archive in their order; one entry is in memory at a time.

    A fault is found when its entry is reached, after the entries before it were yielded.

    Raises:
        BadHar: The file is no archive, or is damaged or hostile; it names line, byte and fault.
        OSError: The file cannot be read.
    """
    number = 0
    try:
        with open_archive(path) as archive:
            for raw in split_entries(archive.stream, max_entry_bytes):
                place = HarPlace(str(path), number, raw.line, raw.offset)
                yield _read_entry(raw, place, archive, max_entry_bytes)
                number += 1
    except Unreadable as fault:
        text = f"{fault}; {number:,} entries before it could be read" if number else str(fault)
        raise BadHar(text, HarPlace(str(path), number, fault.line, fault.offset)) from fault


def _read_entry(raw: RawEntry, place: HarPlace, archive: OpenArchive, limit: int) -> HarExchange:
    entry = _parse(raw, place)
    try:
        return _make_exchange(entry, place, archive, limit)
    except BadField as fault:
        raise BadHar(f"entry {place.entry}: {fault}", place) from fault


def _read_url(asked: Mapping[str, Any]) -> str:
    url = require_text(asked, "url", "request")
    if not _URL.match(url):
        raise BadField("request.url", f"must be a whole address, not {url!r:.80}")
    try:
        url.encode()
        _ = urlsplit(url).port
    except UnicodeEncodeError as fault:
        text = "must not have half a character, as a surrogate alone is"
        raise BadField("request.url", f"{text}: {url!r:.80}") from fault
    except ValueError as fault:
        raise BadField("request.url", f"is no address ({fault}): {url!r:.80}") from fault
    return url


def _read_method(asked: Mapping[str, Any]) -> str:
    method = require_text(asked, "method", "request")
    if not _METHOD.fullmatch(method):
        raise BadField("request.method", f"must be one word such as GET, not {method!r:.40}")
    return method.upper()


def _make_exchange(
    entry: Mapping[str, Any], place: HarPlace, archive: OpenArchive, limit: int
) -> HarExchange:
    def read_attached(name: str) -> bytes | None:
        return archive.read_attached(name, limit)

    asked, answered = require_object(entry, "request"), require_object(entry, "response")
    url = _read_url(asked)
    headers = _read_headers(answered, "response")
    encoding = next((value for name, value in headers if name.lower() == "content-encoding"), "")
    posted = read_post_data(asked, read_attached)
    content = read_content(answered, encoding, read_attached, limit)
    notes = posted.notes + content.notes
    started = _read_moment(entry, notes)
    timings = read_object(entry, "timings", "")
    return HarExchange(
        HarRequest(
            _read_method(asked),
            url.partition("#")[0],
            _read_headers(asked, "request"),
            posted.data,
        ),
        HarResponse(
            _read_status(answered),
            read_text(answered, "statusText", "response") or "",
            headers,
            content.data,
            content.is_whole,
        ),
        started,
        read_number(entry, "time"),
        place,
        {name: read_number(timings, name) for name in _PHASES if timings.get(name) is not None},
        tuple(notes),
        {name: value for name, value in entry.items() if name.startswith("_")},
    )


def _parse(raw: RawEntry, place: HarPlace) -> dict[str, Any]:
    try:
        entry = orjson.loads(raw.text)
    except orjson.JSONDecodeError as fault:
        entry = _parse_leniently(raw)
        if entry is None:
            line = place.line + fault.lineno - 1
            # orjson counts characters, the position in the file is in bytes.
            before = raw.text.decode("utf-8", "replace")[: fault.pos].encode()
            exact = HarPlace(place.file, place.entry, line, place.offset + len(before))
            raise BadHar(f"entry {place.entry} is not JSON: {fault.msg}", exact) from fault
    if not isinstance(entry, dict):
        raise BadHar(f"entry {place.entry} must be an object, not {entry!r:.60}", place)
    return entry


def _parse_leniently(raw: RawEntry) -> Any:
    """Return an entry with half characters, which browsers write for binary bodies, or `None`."""
    try:
        return json.loads(raw.text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _read_headers(holder: Mapping[str, Any], where: str) -> Pairs:
    pairs: list[tuple[str, str]] = []
    for number, each in enumerate(read_list(holder, "headers", where)):
        name, value = _read_header(each, f"{where}.headers", number)
        if name[0] == ":":  # a pseudo header of HTTP/2 repeats method, address or status
            continue
        if "\n" in value:  # browsers join repeated headers
            pairs += [(name, line.strip()) for line in value.split("\n")]
        else:
            pairs.append((name, value))
    return tuple(pairs)


def _read_header(each: Any, where: str, number: int) -> tuple[str, str]:
    if isinstance(each, dict):
        name, value = each.get("name"), each.get("value", "")
        if isinstance(name, str) and name and isinstance(value, str):
            return name, value
    raise BadField(f"{where}[{number}]", f"must have a name and a value, not be {each!r:.60}")


def _read_status(answered: Mapping[str, Any]) -> int:
    status = answered.get("status")
    if status in {-1, None}:
        return 0
    if isinstance(status, bool) or not isinstance(status, int) or not 0 <= status <= 999:
        raise BadField("response.status", f"must be a status, or 0 for none, not {status!r:.60}")
    return status


def _read_moment(entry: Mapping[str, Any], notes: list[str]) -> datetime | None:
    text = read_text(entry, "startedDateTime", "")
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        notes.append(f"startedDateTime {text!r:.40} is no moment")
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


# Says how far the reading of an archive is: a few entries may be as much as many others.

_EXCHANGES = 1000
_BYTES = 50 * 1024**2


def show_progress(
    exchanges: Iterable[HarExchange], say: Callable[[str], object]
) -> Iterator[HarExchange]:
    """Yield exchanges, and calls `say` with a line after each 1,000 and each 50 MB of them."""
    said = 0
    for number, exchange in enumerate(exchanges, 1):
        yield exchange
        offset = exchange.place.offset
        if number % _EXCHANGES == 0 or offset - said >= _BYTES:
            said = offset
            say(f"{number:,} exchanges read, {offset // 1024**2:,} MB …")
