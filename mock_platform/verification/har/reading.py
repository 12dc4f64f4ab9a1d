"""Reads HTTP archives (HAR 1.2) entry by entry, as browsers, proxies and the sandbox write them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from mock_platform.verification.har.bodies import (
    BadField,
    read_content,
    read_list,
    read_number,
    read_object,
    read_post_data,
    read_text,
    require_object,
    require_text,
)
from mock_platform.verification.har.exchange import (
    BadHar,
    HarExchange,
    HarPlace,
    HarRequest,
    HarResponse,
    Pairs,
)
from mock_platform.verification.har.splitting import (
    MAX_ENTRY_BYTES,
    OpenArchive,
    RawEntry,
    Unreadable,
    open_archive,
    split_entries,
)

_PHASES = ("blocked", "dns", "connect", "ssl", "send", "wait", "receive")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S", re.ASCII)
_METHOD = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)


def read_har(path: Path, max_entry_bytes: int = MAX_ENTRY_BYTES) -> Iterator[HarExchange]:
    """Yields the exchanges of an archive in their order; one entry is in memory at a time.

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
    """Returns an entry with half characters, which browsers write for binary bodies, or `None`."""
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
    """Yields exchanges, and calls `say` with a line after each 1,000 and each 50 MB of them."""
    said = 0
    for number, exchange in enumerate(exchanges, 1):
        yield exchange
        offset = exchange.place.offset
        if number % _EXCHANGES == 0 or offset - said >= _BYTES:
            said = offset
            say(f"{number:,} exchanges read, {offset // 1024**2:,} MB …")
