"""Removes credentials from what the journal and the logs show.

Keys that identify (a consumer key, a nonce) stay, because people search for them. Everything with
which a reader could act as the user is removed, in every spelling that a server would understand: a
parameter's name percent-encoded, a JSON name with escapes, an address within a parameter, JSON
within a string, a field of a multipart form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote, unquote_plus

MASK = "[redacted]"

SECRET_NAMES = (
    "oauth_token_secret", "oauth_signature", "oauth_verifier", "oauth_token",
    "oauth_consumer_secret", "oauth2_access_token", "access_token_secret", "access_token",
    "refresh_token", "request_token", "user_token", "auth_token", "id_token", "session_token",
    "token_secret", "bearer_token", "control_token", "mock_control_token", "authenticity_token",
    "csrf_token", "xsrf_token", "crc_token", "response_token", "consumer_secret", "client_secret",
    "client_assertion", "api_secret", "api_key", "secret_key", "private_key", "secret",
    "code_verifier", "code_challenge", "verifier", "auth_password", "password", "passwd",
    "passphrase", "signature", "session_id", "proxy_authorization", "authorization", "pin",
)  # fmt: skip
"""What names a secret, of the interface, of OAuth and of the sandbox.

Each is known in every spelling: `client_secret`, `client-secret`, `clientSecret`, `Client-Secret`,
and with what the sandbox and headers have before it: `_password`, `X-Api-Key`,
`MOCK_PLATFORM_CLIENT_SECRET`.
"""
_PREFIX = r"_*+(?:mock[_-]?platform[_-]?)?(?:x[_-]?)?"
_SECRET_NAMES = _PREFIX + "(?:" + "|".join(n.replace("_", "[_-]?") for n in SECRET_NAMES) + ")"
_NAMES = frozenset(name.replace("_", "") for name in SECRET_NAMES)
_STEMS = (
    "token", "secret", "signature", "verifier", "challenge", "passw", "passphrase", "assertion",
    "authorization", "apikey", "api_key", "api-key", "privatekey", "private_key", "private-key",
    "session", 'pin"', "pin=",
)  # fmt: skip
"""Each text with one of the names has one of these, in small letters; most texts have none."""
_SECRET_WORDS = ("cookie", "token", "secret", "password", "apikey", "csrf", "xsrf", "session")
"""A header whose name has one of these, without its dashes, has a secret as its value."""
_FLAGS = re.ASCII | re.IGNORECASE
_LONG_NAMES = frozenset({"code", "token"})
"""Names of OAuth 2.0 whose value is a secret if it is long; elsewhere they name other things.

A value without a small letter or digit is a constant, such as the code of an error: what is drawn
at random has some.
"""
_LONG = 20
_DRAWN = re.compile(r"[a-z0-9]", re.ASCII)
_LONG_PAIR = re.compile(
    r"(?<![A-Za-z0-9_])(code|token)=(?=[A-Za-z0-9_.~%-]*(?-i:[a-z0-9]))[A-Za-z0-9_.~%-]{20,}",
    _FLAGS,
)
_LONG_JSON = re.compile(
    r"(\"(?:code|token)\"\s*+:\s*+)\"(?=[^\"]*[a-z0-9])[A-Za-z0-9_.~%-]{20,}\"", re.ASCII
)
_KEPT = r"\[redacted-[0-9]+\](?=[&\s\"';,<]|\Z)"
_PLACEHOLDER = re.compile(_KEPT, re.ASCII)
"""What an archive has in place of a secret, the same for each occurrence; it is no secret."""
_PAIR_VALUE = rf"(?!\"?{_KEPT})(?:\"[^\"]*+(\"|\Z)|[^&\s\"]++)"
_PAIR = re.compile(rf"(?<![A-Za-z0-9_])({_SECRET_NAMES})={_PAIR_VALUE}", _FLAGS)
_ENCODED_PAIR = re.compile(rf"(?<![A-Za-z0-9_.~%-])([A-Za-z0-9_.~%-]++)={_PAIR_VALUE}", re.ASCII)
_STRING = r'"(?:[^"\\]++|\\.)*(?:"|\\?\Z)'
_JSON_VALUE = (
    rf"(?!\"{_KEPT}\")"
    rf"(?:{_STRING}|\[[^\[\]]*+(?:\]|\Z)|\{{[^{{}}]*+(?:\}}|\Z)|(?!null)[^\s\",\[\]{{}}]++)"
)
_JSON = re.compile(rf"(\"(?:{_SECRET_NAMES})\"\s*+:\s*+){_JSON_VALUE}", _FLAGS | re.DOTALL)
_ANY_STRING = re.compile(rf"({_STRING})(\s*+:\s*+)?", re.DOTALL)
_AFTER_COLON = re.compile(_JSON_VALUE, re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9_.~,:;@!$()*/&=-]*+", re.ASCII)
"""Pattern of a query without encodings and without addresses that have their own query."""
_ENCODED = re.compile(r"[^\s\"&=]++", re.ASCII)
_HIDDEN_INPUT = re.compile(
    rf"(name=\"(?:{_SECRET_NAMES})\"[^>]{{0,200}}?value=)\"(?!{_KEPT}\")[^\"]*\"", _FLAGS
)
_PIN = re.compile(rf"(<code id=\"pin\"[^>]*>)(?!{_KEPT}<)[^<]*", re.ASCII)
URL_PASSWORD = re.compile(
    r"(?P<before>://[^\s/?#@:\"'<>]*+:)(?!\[redacted-?[0-9]*\]@)(?P<password>[^\s/?#\"'<>]+)@",
    re.ASCII,
)
"""The password before the host of an address: `http://user:password@host`."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9-]{0,15})[ \t]+(.*)", re.ASCII | re.DOTALL)
_OAUTH_ITEM = re.compile(
    rf"([^\s=,\"]++)(\s*+=\s*+)(?!\"?{_KEPT})(?:\"[^\"]*+\"?|[^\s\",]*+)", re.ASCII
)
_PART_NAME = re.compile(r"\bname(\*?)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"?|([^;\s]+))", _FLAGS)
_BOUNDARY = re.compile(r"boundary\s*=\s*\"?([^\";,\s]+)", _FLAGS)
_BLANK_LINE = re.compile(r"\r?\n\r?\n")
_MAX_LEVELS = 5
"""Maximum nesting of encodings; anything deeper is replaced completely."""


def text(value: str) -> str:
    """Return JSON, a page, or any other text without its credentials."""
    return _text(value, _MAX_LEVELS)


def address(value: str) -> str:
    """Return a URL, or its path and query, without its credentials."""
    path, mark, query = value.partition("?")
    if mark:
        return f"{text(path)}?{_form(query, _MAX_LEVELS)}"
    return text(path)


def form(value: str) -> str:
    """Return a query or a form body without its credentials."""
    return _form(value, _MAX_LEVELS)


def pair(name: str, value: str) -> str:
    """Return the value of a parameter in the form that may be shown; both are decoded."""
    return MASK if is_secret(name, value) else text(value)


def key(table: str, value: str) -> str:
    """Return a record's key as it may be shown: that of a token is the token, and is cut."""
    return f"{value[:12]}…" if table == "tokens" else value


def header(name: str, value: str) -> str:
    """Return one header's value in the form that may be shown."""
    folded = name.lower()
    if folded.endswith("authorization"):
        return _authorization(value)
    if _PLACEHOLDER.fullmatch(value):
        return value
    if folded == "set-cookie":
        return re.sub(rf"=(?!{_KEPT})[^;]*", f"={MASK}", value, count=1)
    if is_secret_header(folded):
        return MASK
    if folded in {"location", "referer"}:
        return address(value)
    return text(value)


def headers(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return headers as they may be shown: pairs `[name, value]`, in order."""
    return [[name, header(name, value)] for name, value in pairs]


def body(data: bytes, content_type: str | None, limit: int) -> dict[str, Any]:
    """Return a body as it may be shown: size, text without credentials, whether it was cut."""
    shown: dict[str, Any] = {"size": len(data), "content_type": content_type}
    try:
        shown["text"] = content(data[:limit].decode(), content_type)
    except UnicodeDecodeError:
        shown["text"] = content(data[:limit].decode("utf-8", "replace"), content_type)
        shown["lossy"] = True
    if len(data) > limit:
        shown["truncated"] = True
    return shown


def content(value: str, content_type: str | None) -> str:
    """Return the text of a body, which may have been cut, without its credentials."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        return form(value)
    if kind.startswith("multipart/") or value.startswith("--"):
        return _multipart(value, content_type or "")
    return text(value)


def is_secret(name: str, value: str = "") -> bool:
    """Return whether a parameter, whose name and value are decoded, has a secret as its value."""
    if value and _PLACEHOLDER.fullmatch(value):
        return False
    least = _find_least(name)
    if least is None or len(value) < least:
        return False
    return least == 0 or _DRAWN.search(value) is not None


@lru_cache(4096)
def _find_least(name: str) -> int | None:
    """Return from how many characters on a value of this name is a secret; `None` if none is."""
    folded = name.strip().lower()
    if folded in _LONG_NAMES:
        return _LONG
    squashed = folded.replace("_", "").replace("-", "").removeprefix("mockplatform")
    return 0 if squashed in _NAMES or squashed.removeprefix("x") in _NAMES else None


@lru_cache(1024)
def is_secret_header(name: str) -> bool:
    """Return whether the whole value of a header is a secret, such as a key or a cookie."""
    squashed = name.lower().replace("-", "").replace("_", "")
    return any(word in squashed for word in _SECRET_WORDS) or is_secret(name)


# -- details ---------------------------------------------------------------------------------------


def _has_stem(small: str) -> bool:
    return any(stem in small for stem in _STEMS)


def _text(value: str, levels: int) -> str:
    # Each step is behind a cheap look for a character without which it could find nothing. The
    # journal shows thousands of texts, and nearly none of them has a secret.
    if "@" in value and "://" in value:
        value = URL_PASSWORD.sub(rf"\g<before>{MASK}@", value)
    is_named = ("=" in value or '"' in value) and _has_stem(value.lower())
    if "=" in value:
        if is_named:
            value = _PAIR.sub(_mask_pair, value)
        value = _LONG_PAIR.sub(rf"\1={MASK}", value)
    if '"' in value:
        if is_named:
            value = _JSON.sub(rf'\1"{MASK}"', value)
        value = _LONG_JSON.sub(rf'\1"{MASK}"', value)
        if "\\" in value:
            value = _redact_json_escapes(value, levels)
        if "<" in value:
            value = _HIDDEN_INPUT.sub(rf'\1"{MASK}"', value)
            value = _PIN.sub(rf"\1{MASK}", value)
    if "%" in value:
        value = _redact_encoded(value, levels)
    return value


def _mask_pair(found: re.Match[str]) -> str:
    quoted = found[2] is not None
    return f'{found[1]}="{MASK}"' if quoted else f"{found[1]}={MASK}"


def _form(value: str, levels: int) -> str:
    if "=" not in value:
        return _text(value, levels)
    if "@" not in value and _PLAIN.fullmatch(value):  # most are, and cost next to nothing
        items = [item.partition("=") for item in value.split("&")]
        return "&".join(
            [f"{n}={MASK}" if v and is_secret(n, v) else n + sign + v for n, sign, v in items]
        )
    return "&".join([_form_item(item, levels) for item in value.split("&")])


def _form_item(item: str, levels: int) -> str:
    # The name is decoded before it is compared, since a server decodes it as well: `oauth%5Ftoken`
    # is a secret too. The value may hold another encoded text, with pairs of its own, so it is
    # decoded, cleaned and encoded again, some levels deep.
    name, _, value = item.partition("=")
    if value and is_secret(unquote_plus(name), value):
        return f"{name}={MASK}"
    if not _PLAIN.fullmatch(name.replace("%", "")):
        return _text(item, levels)
    if "%" in value or "+" in value:
        decoded = unquote_plus(value)
        clean = _redact_nested(decoded, levels)
        return item if clean == decoded else f"{name}={quote(clean, safe='[]')}"
    clean = _text(value, levels)
    return item if clean == value else f"{name}={clean}"


def _redact_encoded(value: str, levels: int) -> str:
    """Return a text with percent-encoded parts, such as `…%26oauth_token%3Dabc%26…`."""
    if "=" in value:
        value = _ENCODED_PAIR.sub(
            lambda found: _mask_pair(found) if is_secret(unquote(found[1])) else found[0], value
        )
    return _ENCODED.sub(lambda found: _redact_encoded_piece(found[0], levels), value)


def _redact_encoded_piece(piece: str, levels: int) -> str:
    if "%" not in piece:
        return piece
    decoded = unquote_plus(piece)
    clean = decoded if decoded == piece else _redact_nested(decoded, levels)
    if clean == decoded:
        return piece
    return quote(clean, safe="[]/" if "/" in piece else "[]")


def _redact_nested(decoded: str, levels: int) -> str:
    return _text(decoded, levels - 1) if levels else MASK


def _redact_json_escapes(value: str, levels: int) -> str:
    """Return JSON with escapes in names, or in strings that contain JSON or addresses."""
    parts: list[str] = []
    end = 0
    while (found := _ANY_STRING.search(value, end)) is not None:
        parts.append(value[end : found.start()])
        end = found.end()
        written, colon = found[1], found[2]
        if "\\" not in written:
            parts.append(found[0])
            continue
        decoded = _unescape(written)
        if decoded is None:
            parts.append(found[0])
            continue
        # A name written with escapes is found only after decoding. What follows the colon is then
        # hidden, whatever kind of value it is.
        if colon is not None and is_secret(decoded):
            secret = _AFTER_COLON.match(value, end)
            if secret is not None:
                end = secret.end()
                parts.append(f'{written}{colon}"{MASK}"')
                continue
        clean = _redact_nested(decoded, levels)
        shown = written if clean == decoded else json.dumps(clean, ensure_ascii=False)
        parts.append(shown + (colon or ""))
    parts.append(value[end:])
    return "".join(parts)


def _unescape(written: str) -> str | None:
    """Return the decoded JSON string; `None` if it cannot be read."""
    try:
        return str(json.loads(written, strict=False))
    except ValueError:
        return None


def _authorization(value: str) -> str:
    found = _SCHEME.fullmatch(value.strip())
    if found is None:
        return MASK if value.strip() else value
    scheme, rest = found.groups()
    if _PLACEHOLDER.fullmatch(rest):
        return value
    if scheme.lower() != "oauth" or "=" not in rest:
        return f"{scheme} {MASK}"
    return f"{scheme} {_text(_OAUTH_ITEM.sub(_oauth_item, rest), _MAX_LEVELS)}"


def _oauth_item(found: re.Match[str]) -> str:
    name = unquote(found[1]) if "%" in found[1] else found[1]
    return f'{found[1]}{found[2]}"{MASK}"' if is_secret(name) else found[0]


def _multipart(value: str, content_type: str) -> str:
    named = _BOUNDARY.search(content_type)
    boundary = f"--{named[1]}" if named is not None else ""
    if not boundary or boundary not in value:
        boundary = value.partition("\n")[0].rstrip("\r")
    # The type of the content may be missing, or the body may have been cut. Then the first line is
    # taken for the boundary, if it looks like one.
    if len(boundary) <= 2:
        return text(value)
    return boundary.join([_part(part) for part in value.split(boundary)])


def _part(part: str) -> str:
    """Return a part of a multipart body: headers, and the content unless it is a secret."""
    blank = _BLANK_LINE.search(part)
    if blank is None:
        return text(part)
    head = part[: blank.end()]
    content_ = part[blank.end() :].strip()
    secret = any(is_secret(_part_name(found), content_) for found in _PART_NAME.finditer(head))
    if not secret:
        return head + text(part[blank.end() :])
    ending = "\r\n" if part.endswith("\r\n") else "\n" if part.endswith("\n") else ""
    return f"{head}{MASK}{ending}"


def _part_name(found: re.Match[str]) -> str:
    extended, quoted, bare = found.groups()
    name = bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
    if extended:  # RFC 5987: charset'language'value
        name = name.rpartition("'")[2]
    return unquote(name)
