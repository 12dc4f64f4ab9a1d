"""Writes HTTP archives (HAR 1.2) without secrets: single entries, and files that grow.

A file is a whole archive after each entry: the end of the JSON is overwritten by the next entry and
a new end, in one write. So whoever kills the program loses at most what was not yet answered.
"""

from __future__ import annotations

import base64
import errno
import os
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, quote

from msgspec import Struct, field

from mock_platform.core.failures.codes import phrase
from mock_platform.core.jsonio import dumps
from mock_platform.version import __version__
from mock_platform.world import redact
from mock_platform.world.clock import wire_millis
from mock_platform.world.journal import JournalEntry

_LEAST = 6
"""Minimum length of a value that is replaced wherever it occurs; shorter ones are usual words."""
_HARMLESS = frozenset({"bearer", "client_credentials", "refresh_token", "authorization_code"})
_BACKSLASH = r"(?:\\|%(?:25){0,5}5[cC])"
"""Each level of JSON within JSON doubles them, and an address may be around any level."""


_FEW = 50
"""So many texts are found faster one after the other."""
_WORD = re.compile(f"[A-Za-z0-9_+/=.%~-]{{{_LEAST},}}")
"""What nearly all secrets begin with, and what little of a text consists of."""
_SHORT, _MOST_KEPT = 200, 10_000
"""Characters and number of the texts, such as names of fields, that are remembered as shown."""


class _Beginnings:
    """Texts by how they begin, to find those that occur in another text.

    Each signed request adds a secret, and each text is searched for all of them: looking for one
    after the other, or with one pattern for all, took hours for a full journal.
    """

    def __init__(self) -> None:
        self._all: list[str] = []
        self._texts: dict[str, list[str]] = {}
        self._odd: list[str] = []
        """Those that begin otherwise than with a word, or are shorter than the beginnings."""

    def add(self, text: str) -> None:
        """Let a text be found from now on."""
        self._all.append(text)
        if _WORD.match(text) is None:
            self._odd.append(text)
        else:
            self._texts.setdefault(text[:_LEAST], []).append(text)

    def find_in(self, text: str) -> list[str]:
        """Return the texts that occur in this one, the longest first."""
        is_few = len(self._all) <= _FEW
        found = [each for each in (self._all if is_few else self._odd) if each in text]
        if not is_few:
            words = _WORD.findall(text)
            parts = (
                word[at : at + _LEAST] for word in words for at in range(len(word) - _LEAST + 1)
            )
            begun = {part for part in parts if part in self._texts}
            found += [each for part in begun for each in self._texts[part] if each in text]
        return sorted(found, key=lambda each: (-len(each), each))


class Secrets:
    """The secrets of one archive. Not safe for concurrent use."""

    def __init__(self) -> None:
        self._placeholders: dict[str, str] = {}
        self._plain = _Beginnings()
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._flat = _Beginnings()
        self._by_flat: dict[str, list[str]] = {}
        """The secrets by how `_flatten` leaves them."""
        self._hidden: dict[str, str] = {}
        """Texts without the secrets that are known so far."""
        self.finder = redact.Redactor(self.learn)
        """Learns each secret of a text, a header or an address."""

    def learn_environment(self, variables: Iterable[tuple[str, str]]) -> None:
        """Learn the values of variables whose names say that they are secrets."""
        for name, value in variables:
            is_long = len(value) >= 2 * _LEAST
            if is_long and "/" not in value[:2] and redact.is_secret_variable(name):
                self.learn(value)

    def learn(self, value: str) -> str:
        """Learn a secret, and return its placeholder.

        What is too short to be distinguished from other texts is not learned; it gets the mask.
        """
        if value not in self._placeholders:
            if len(value) < _LEAST or value.lower() in _HARMLESS:
                return redact.MASK
            if value.startswith(redact.MASK[:-1]):
                return redact.MASK
            self._placeholders[value] = f"[redacted-{len(self._placeholders) + 1}]"
            self._plain.add(value)
            bare = _flatten(value)
            if bare not in self._by_flat:
                self._flat.add(bare)
            self._by_flat.setdefault(bare, []).append(value)
            self._hidden.clear()
        return self._placeholders[value]

    def knows(self, value: str) -> bool:
        """Whether a value is one of the secrets."""
        return value in self._placeholders

    def occur_in(self, text: str) -> bool:
        """Whether a text has a secret, perhaps escaped; a fast look, which is sometimes wrong."""
        if self._plain.find_in(text):
            return True
        return _has_escape(text) and bool(self._flat.find_in(_flatten(text)))

    def hide(self, text: str) -> str:
        """Return a text with the placeholders of all known secrets in their place."""
        if len(text) > _SHORT:
            return self._hide(text)
        hidden = self._hidden.get(text)
        if hidden is None:
            if len(self._hidden) >= _MOST_KEPT:
                self._hidden.clear()
            hidden = self._hidden[text] = self._hide(text)
        return hidden

    def _hide(self, text: str) -> str:
        plain = self._plain.find_in(text)
        if plain:
            every = re.compile("|".join(map(re.escape, plain)))
            text = every.sub(lambda found: self._placeholders[found[0]], text)
        if _has_escape(text):
            # The patterns take long, and nearly no text has an escaped secret.
            flat = _flatten(text)
            for bare in self._flat.find_in(flat):
                for secret in sorted(self._by_flat[bare], key=len, reverse=True):
                    # Nearly all are signatures as an address has them, each of which is used once.
                    if bare in flat and (quoted := quote(secret, "", errors="replace")) in text:
                        text = text.replace(quoted, self._placeholders[secret])
                        flat = _flatten(text)
                    if bare in flat:
                        pattern = self._patterns.get(secret)
                        if pattern is None:
                            pattern = self._patterns[secret] = _make_pattern(secret)
                        text = pattern.sub(self._placeholders[secret], text)
        return text


def _has_escape(text: str) -> bool:
    return "%" in text or "\\" in text or "&#" in text


_ESCAPE = re.compile(
    r"%(?:25)*([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|&#(?:([0-9]+)|[xX]([0-9A-Fa-f]+));"
)


def _flatten(text: str) -> str:
    """Return a text with no character escaped, in whatever way, for a first look.

    Bytes of UTF-8 stay one character each; blanks, plus signs and backslashes are left out.
    """
    found = text.encode("utf-8", "replace").decode("latin-1")
    for _ in range(_MAX_LAYERS):
        # Without the pattern, which would take long for all the blanks of a text.
        bare = found.replace("\\", "").replace("+", "").replace(" ", "")
        found = _ESCAPE.sub(_unescape, bare)
        if found == bare:
            break
    return found


_MAX_LAYERS = 40


def _unescape(found: re.Match[str]) -> str:
    byte, point, decimal, digits = found.groups()
    if byte is not None:
        return chr(int(byte, 16))
    number = int(point or digits or "0", 16) if decimal is None else int(decimal[:9])
    if not number or number > 0x10FFFF:
        return ""
    return chr(number).encode("utf-8", "replace").decode("latin-1")


def _make_pattern(secret: str) -> re.Pattern[str]:
    """Return a pattern that finds a secret with any of its characters escaped."""
    parts = re.findall(r"\\+|[^\\]", secret, re.DOTALL)
    return re.compile("".join(_spell(part) for part in parts), re.ASCII)


def _spell(character: str) -> str:
    """Return a pattern of the ways to write a character: as it is, in addresses, JSON and HTML.

    Backslashes come together, so that no text takes long. No group is possessive: Python before
    3.11.5 matches those wrongly.
    """
    if character[0] == "\\":
        return f"(?:{_BACKSLASH}{{1,99}}|(?:\\\\{{0,32}}+u005[cC])+|(?:&#(?:92|[xX]5[cC]);)+)"
    coded = [_match_hex(f"{byte:02x}") for byte in character.encode("utf-8", "replace")]
    ways = [re.escape(character), "".join(f"%(?:25){{0,5}}{digits}" for digits in coded)]
    if character == " ":
        ways.append(r"\+")
    plain = f"(?:{'|'.join(ways)})"
    if character in '"/':
        plain = f"{_BACKSLASH}{{0,32}}{plain}"
    number = ord(character)
    ways = [plain, f"&#(?:{number}|[xX]{number:x}|[xX]{number:X});"]
    if number < 0x10000:
        ways.append(f"{_BACKSLASH}{{0,32}}u{_match_hex(f'{number:04x}')}")
    return f"(?:{'|'.join(ways)})"


def _match_hex(digits: str) -> str:
    return "".join(f"[{each}{each.upper()}]" if each.isalpha() else each for each in digits)


MAX_BODY_BYTES = 256 * 1024
"""Maximum number of body bytes in an entry of the journal's archive."""
_PRIVATE = 0o600
_END = b"\n]}}\n"

JsonObject = dict[str, Any]
Pairs = Sequence[tuple[str, str]]


class RecordedExchange(Struct, frozen=True):
    """An exchange that is to be written; `status` is 0 if no response came."""

    started: datetime
    milliseconds: float
    method: str
    url: str
    request_headers: Pairs
    request_body: bytes
    status: int
    reason: str | None
    response_headers: Pairs
    response_body: bytes
    """The body without its Content-Encoding."""
    http: str = "HTTP/1.1"
    response_size: int | None = None
    """The whole size, if the body is only its beginning."""
    own: Mapping[str, Any] = field(default_factory=dict)
    """Keys that begin with an underscore."""

    @classmethod
    def from_entry(cls, entry: JournalEntry, own: Mapping[str, Any]) -> Self:
        """Return the exchange of an entry of the journal, as the sandbox made its answer."""
        return cls(
            started=entry.at,
            milliseconds=entry.milliseconds,
            method=entry.method,
            url=entry.url,
            request_headers=entry.request_headers,
            request_body=entry.request_body,
            status=entry.status,
            reason=entry.reason,
            response_headers=entry.response_headers,
            response_body=entry.response_body,
            own=own,
        )


def make_log(entries: Iterable[JsonObject], comment: str) -> JsonObject:
    """Return a whole archive with these entries."""
    return {"log": {**_make_head(), "entries": list(entries), "comment": comment}}


class HarFile:
    """A file that gets one exchange after the other. Safe for concurrent use.

    It is readable by its owner only.

    Raises:
        FileExistsError: The file exists, and `overwrite` is not set.
        OSError: It cannot be created.
    """

    def __init__(self, path: Path, *, overwrite: bool, max_body_bytes: int, secrets: Secrets):
        self._lock = threading.Lock()
        self._secrets = secrets
        self._max_body_bytes = max_body_bytes
        if overwrite:
            if path.exists() and not path.is_file():  # a device or a pipe would be gone for all
                raise OSError(errno.EINVAL, "only a regular file is replaced", str(path))
            path.unlink(missing_ok=True)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
        self._file = os.open(path, flags, _PRIVATE)
        start = dumps({"log": _make_head()}).removesuffix(b"}}") + b',"entries":['
        self._at = len(start)
        self._write(start + _END, 0)
        self.count = 0

    def append(self, exchange: RecordedExchange) -> None:
        """Add an exchange.

        Raises:
            OSError: It cannot be written; the file stays as it was, or ends in a part of an entry.
        """
        with self._lock:
            text = dumps(make_entry(exchange, self._max_body_bytes, self._secrets))
            text = (b",\n" if self.count else b"\n") + text
            self._write(text + _END, self._at)
            self._at += len(text)
            self.count += 1

    def close(self) -> None:
        """Make sure that everything is on the disk, and close the file. Idempotent."""
        with self._lock:
            if self._file >= 0:
                os.fsync(self._file)
                os.close(self._file)
                self._file = -1

    def _write(self, data: bytes, at: int) -> None:
        os.lseek(self._file, at, os.SEEK_SET)
        while data:
            data = data[os.write(self._file, data) :]


def make_entry(
    exchange: RecordedExchange, max_body_bytes: int, secrets: Secrets | None = None
) -> JsonObject:
    """Return an exchange as an entry of an archive, without its secrets.

    With `secrets`, those become placeholders that show which ones are the same.
    """
    return _EntryMaker(exchange, max_body_bytes, secrets).make()


def make_entries(
    exchanges: Iterable[RecordedExchange], max_body_bytes: int, secrets: Secrets
) -> list[JsonObject]:
    """Return entries without the secrets of any of them, also of later ones."""
    makers = [_EntryMaker(each, max_body_bytes, secrets) for each in exchanges]
    return [maker.make() for maker in makers]


class _EntryMaker:
    """Makes one entry: first secrets are learned, then everything is written without them."""

    def __init__(self, exchange: RecordedExchange, most: int, secrets: Secrets | None) -> None:
        self._all = exchange
        self._most = most
        self._secrets = secrets
        if secrets is not None:
            find = secrets.finder
            find.headers([*exchange.request_headers, *exchange.response_headers])
            find.address(exchange.url)
            for headers, body in (
                (exchange.request_headers, exchange.request_body),
                (exchange.response_headers, exchange.response_body),
            ):
                kind = _find(headers, "content-type")
                find.content(body[:most].decode("utf-8", "replace"), kind)

    def make(self) -> JsonObject:
        """Return the entry as JSON."""
        took = round(self._all.milliseconds, 3)
        phases = {"blocked": -1, "dns": -1, "connect": -1, "send": 0, "wait": took, "receive": 0}
        return {
            "startedDateTime": wire_millis(self._all.started),
            "time": took,
            "request": self._make_request(),
            "response": self._make_response(),
            "cache": {},
            "timings": phases,
            **self._all.own,
        }

    def _make_request(self) -> JsonObject:
        sent = self._all
        url = self._hide(sent.url)
        shown: JsonObject = {
            "method": sent.method,
            "url": redact.address(url),
            "httpVersion": sent.http,
            "cookies": self._make_cookies(sent.request_headers, "cookie"),
            "headers": self._make_headers(sent.request_headers),
            "queryString": self._make_pairs(sent.url.partition("?")[2]),
            "headersSize": -1,
            "bodySize": len(sent.request_body),
        }
        if sent.request_body:
            kind = _find(sent.request_headers, "content-type")
            body = self._make_body(sent.request_body, kind, len(sent.request_body))
            if body.pop("encoding", None):  # the format has this key for responses only
                body["_encoding"] = "base64"
                body.setdefault("comment", "base64, because it is not UTF-8")
            # The format excludes `params` where `text` is present; `text` is what was really sent.
            shown["postData"] = {"mimeType": kind, **body}
        return shown

    def _make_response(self) -> JsonObject:
        got = self._all
        kind = _find(got.response_headers, "content-type")
        size = len(got.response_body) if got.response_size is None else got.response_size
        content: JsonObject = {"size": size, "mimeType": kind or "x-unknown"}
        if got.response_body:
            content |= self._make_body(got.response_body, kind, size)
        return {
            "status": got.status,
            "statusText": got.reason or (phrase(got.status) if got.status else ""),
            "httpVersion": got.http,
            "cookies": self._make_cookies(got.response_headers, "set-cookie"),
            "headers": self._make_headers(got.response_headers),
            "content": content,
            "redirectURL": redact.address(self._hide(_find(got.response_headers, "location"))),
            "headersSize": -1,
            "bodySize": size,
        }

    def _make_body(self, data: bytes, kind: str, size: int) -> JsonObject:
        """Return text, encoding and comment of a body."""
        part = data[: self._most]
        is_cut = size > len(part)
        comment = {"comment": f"cut after {len(part):,} of {size:,} bytes"} if is_cut else {}
        try:
            text = part.decode()
        except UnicodeDecodeError as fault:
            if not is_cut or fault.start < len(part) - 4:
                # Latin-1 keeps every byte, so secrets are found in binary data as well.
                clean = redact.content(self._hide(part.decode("latin-1")), kind)
                encoded = base64.b64encode(clean.encode("latin-1", "replace")).decode()
                return {"text": encoded, "encoding": "base64", **comment}
            text = part.decode("utf-8", "ignore")
        return {"text": redact.content(self._hide(text), kind), **comment}

    def _make_headers(self, pairs: Pairs) -> list[JsonObject]:
        hidden = [(name, self._hide(value)) for name, value in pairs]
        return [{"name": name, "value": value} for name, value in redact.headers(hidden)]

    def _make_pairs(self, query: str) -> list[JsonObject]:
        found = parse_qsl(query, keep_blank_values=True, errors="replace")
        return [
            {"name": self._hide(name), "value": redact.pair(name, self._hide(value))}
            for name, value in found
        ]

    def _make_cookies(self, pairs: Pairs, header: str) -> list[JsonObject]:
        """Return the names of cookies, without values: with those a reader could be the user."""
        texts = [value for name, value in pairs if name.lower() == header]
        if header == "cookie":
            texts = [part for text in texts for part in text.split(";")]
        names = [text.partition("=")[0].strip() for text in texts if "=" in text]
        return [{"name": name, "value": redact.MASK} for name in names if name]

    def _hide(self, text: str) -> str:
        return text if self._secrets is None else self._secrets.hide(text)


def _make_head() -> JsonObject:
    return {"version": "1.2", "creator": {"name": "mock_platform", "version": __version__}}


def _find(pairs: Pairs, name: str) -> str:
    return next((value for key, value in pairs if key.lower() == name), "")
