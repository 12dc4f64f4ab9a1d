"""Finds credentials, by their names and patterns, in each place where they can be.

A `Redactor` replaces each: in the journal and the logs by a mask, in an archive by a numbered
placeholder, for which it learns the secret.

Keys that identify (a consumer key, a nonce) stay, because people search for them. Everything with
which a reader could act as the user is removed, in every spelling that a server would understand: a
parameter's name percent-encoded, a JSON name with escapes, an address within a parameter, JSON
within a string, a field of a multipart form.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any
from urllib.parse import quote, unquote, unquote_plus

MASK = "[redacted]"

SECRET_NAMES = (
    "oauth_token_secret", "oauth_signature", "oauth_verifier", "oauth_token",
    "oauth_consumer_secret", "oauth2_access_token", "access_token_secret", "access_token",
    "refresh_token", "request_token", "user_token", "auth_token", "id_token", "session_token",
    "token_secret", "bearer_token", "control_token", "mock_control_token", "authenticity_token",
    "csrf_token", "xsrf_token", "crc_token", "response_token", "consumer_secret", "client_secret",
    "former_secret",
    "client_assertion", "api_secret", "api_key", "secret_key", "private_key", "secret",
    "code_verifier", "code_challenge", "verifier", "auth_password", "password", "passwd",
    "passphrase", "signature", "session_id", "proxy_authorization", "authorization", "pin",
)  # fmt: skip
"""What names a secret, of the interface, of OAuth and of the sandbox.

Each is known in every spelling: `client_secret`, `client-secret`, `clientSecret`, `Client-Secret`,
`client__secret`, and with what the sandbox and headers have before it: `_password`, `X-Api-Key`,
`MOCK_PLATFORM_CLIENT_SECRET`.
"""
_PREFIX = r"(?:mock[_-]*+platform[_-]*+)?(?:x[_-]*+)?"
_SPLIT_WORDS = re.compile("_|(?<=o)(?=auth)|(?<=pass)(?=w|phrase)", re.ASCII)
_BARE_NAMES = (
    _PREFIX + "(?:" + "|".join(_SPLIT_WORDS.sub("[_-]*+", n) for n in SECRET_NAMES) + ")[_-]*+"
)
_SECRET_NAMES = "[_-]*+" + _BARE_NAMES
_NAMES = frozenset(name.replace("_", "") for name in SECRET_NAMES)
_STEMS = (
    "token", "secret", "signature", "verifier", "challenge", "pass", "assertion", "authorization",
    "apikey", "api_", "api-", "private", "session", 'pin"', "pin ", "pin=", "pin_", "pin-",
)  # fmt: skip
"""Each text with one of the names has one of these, in small letters; most texts have none."""
_SECRET_WORDS = (
    "cookie",
    "token",
    "secret",
    "password",
    "apikey",
    "csrf",
    "xsrf",
    "session",
    "signature",
)
"""A header whose name has one of these, without its dashes, has a secret as its value."""
_SECRET_VARIABLE = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|CREDENTIAL", re.ASCII | re.IGNORECASE
)
_FLAGS = re.ASCII | re.IGNORECASE
_compile = cache(re.compile)
"""For patterns with all names, which take long: only a text that may have a secret needs them."""
_LONG_NAMES = frozenset({"code", "token"})
"""Names of OAuth 2.0 whose value is a secret if it is long; elsewhere they name other things.

A value without a small letter or digit is a constant, such as the code of an error: what is drawn
at random has some.
"""
_LONG = 20
_DRAWN = re.compile(r"[a-z0-9]", re.ASCII)
_KEPT = r"\[redacted(?:-[0-9]+)?\](?=[&\s\"';,<]|\\++\"|\Z)"
_PLACEHOLDER = re.compile(_KEPT, re.ASCII)
"""What is shown in place of a secret; it is no secret itself."""
_PAIR_VALUE = rf"(?!\"?{_KEPT})(?P<value>\"[^\"]*+(?:\"|\Z)|[^&\s\"]++)"
# A name may begin after each dash, so it has none at its beginning here: from each of a row of
# dashes the rest of the row would be read again.
_PAIR = (rf"(?<![A-Za-z0-9_])(?P<name>_*+{_BARE_NAMES})={_PAIR_VALUE}", _FLAGS)
_PAIR_WITH_BLANKS = (
    rf"[?#&\"](?P<name>{_SECRET_NAMES})=(?!{_KEPT})"
    r"(?P<value>[^&\s\"]{1,300}+[ \t][^&\"<>\r\n]*+)",
    _FLAGS,
)
"""A parameter that a sloppy client did not encode; in running text a blank ends the value."""
_BLANK_VALUE = re.compile(r"=[^&\s\"=]*+[ \t]", re.ASCII)
_LONG_PAIR = re.compile(
    rf"(?<![A-Za-z0-9_])(?P<name>code|token)=(?!{_KEPT})"
    r"(?=[^&\s\"'<>,;\\=]*(?-i:[a-z0-9]))(?P<value>[^&\s\"'<>,;\\]{20,})",
    _FLAGS,
)
_ENCODED_PAIR = re.compile(
    rf"(?<![A-Za-z0-9_.~%-])(?P<name>[A-Za-z0-9_.~-]*+%[A-Za-z0-9_.~%-]*+)={_PAIR_VALUE}", re.ASCII
)
_STRING = r'"(?:[^"\\]++|\\.)*(?:"|\\?\Z)'
_NESTED = rf"[^\[\]{{}}\"]++|{_STRING}"
for _ in range(4):
    _NESTED = rf"[^\[\]{{}}\"]++|{_STRING}|[\[{{](?:{_NESTED})*(?:[\]}}]|\Z)"
"""What can be in a list or an object, with lists and objects in it, some levels deep."""
_JSON_VALUE = (
    rf"(?!\"{_KEPT}\")"
    rf"(?:{_STRING}|[\[{{](?:{_NESTED})*(?:[\]}}]|\Z)|(?!null)[^\s\",\[\]{{}}]++)"
)
_JSON = (rf"(\"\s*+(?:{_SECRET_NAMES})\s*+\"\s*+:\s*+)({_JSON_VALUE})", _FLAGS | re.DOTALL)
_LONG_JSON = re.compile(
    r"(\"\s*+((?i:code|token))\s*+\"\s*+:\s*+)"
    rf"(?=\"(?:[^\"]{{20}}|[^\"\\]*+\\))(?=\"[^\"a-z0-9]*+(?:[a-z0-9]|(?<=\\)\"))({_STRING})",
    re.ASCII | re.DOTALL,
)
_ANY_STRING = re.compile(rf"({_STRING})(\s*+:\s*+)?", re.DOTALL)
_AFTER_COLON = re.compile(_JSON_VALUE, re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9_.~,:;@!$()*/&=-]*+", re.ASCII)
"""Pattern of a query without encodings and without addresses that have their own query."""
_ENCODED = re.compile(r"[^\s\"&=]++", re.ASCII)
_HIDDEN_INPUT = (
    rf"(name=\"(?:{_SECRET_NAMES})\"[^>]{{0,200}}?value=)\"(?!{_KEPT}\")([^\"]*)\"",
    _FLAGS,
)
_PIN = re.compile(rf"(<code id=\"pin\"[^<>]*>)(?!{_KEPT}<)([^<]*)", re.ASCII)
_URL_PASSWORD = re.compile(
    r"(?P<before>://[^\s/?#@:\"'<>]*+:)(?!\[redacted-?[0-9]*\]@)(?P<password>[^\s/?#\"'<>]+)@",
    re.ASCII,
)
"""The password before the host of an address: `http://user:password@host`."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9-]{0,15})[ \t]+(.*)", re.ASCII | re.DOTALL)
_OAUTH_ITEM = re.compile(
    rf"(?<![^\s=,\"])([^\s=,\"]++)(\s*+=\s*+)(?!\"?{_KEPT})(\"[^\"]*+\"?|[^\s\",]*+)",
    re.ASCII,
)
"""An item of OAuth's header. It begins where a word does, so that each word is read once."""
_COOKIE = re.compile(rf"=(?!{_KEPT})([^;]*)", re.ASCII)
_FIELD_OF = re.compile(r"[\[\].]")
_LIKE_FORM = re.compile(r"\s*+[A-Za-z0-9_.~%+\[\]-]{1,100}\s*+=", re.ASCII)
"""The beginning of a form without a media type that says so."""
_PART_NAME = re.compile(r"\bname(\*?)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"?|([^;\s]+))", _FLAGS)
_BOUNDARY = re.compile(r"boundary\s*=\s*\"?([^\";,\s]+)", _FLAGS)
_BLANK_LINE = re.compile(r"\r?\n\r?\n")
_MAX_LEVELS = 5
"""Maximum nesting of encodings; anything deeper is replaced completely."""


def mask(_: str) -> str:
    """Return what journal and logs show in place of a secret."""
    return MASK


class Redactor:
    """Finds the secrets of texts, and shows those with something else in their place.

    `replace` returns what is shown in place of a secret, which is decoded. It is called for secrets
    within secrets too, such as the password within Basic authentication, whose place is not shown.
    """

    def __init__(self, replace: Callable[[str], str] = mask) -> None:
        self._replace = replace

    def text(self, value: str) -> str:
        """Return JSON, a page, or any other text without its credentials."""
        return self._text(value, _MAX_LEVELS)

    def address(self, value: str) -> str:
        """Return a URL, or its path and query, without its credentials."""
        path, mark, query = value.partition("?")
        if mark:
            return f"{self._text(path, _MAX_LEVELS)}?{self._form(query, _MAX_LEVELS)}"
        return self._text(path, _MAX_LEVELS)

    def form(self, value: str) -> str:
        """Return a query or a form body without its credentials."""
        return self._form(value, _MAX_LEVELS)

    def pair(self, name: str, value: str) -> str:
        """Return the value of a parameter in the form that may be shown; both are decoded."""
        return self._replace(value) if is_secret(name, value) else self.text(value)

    def header(self, name: str, value: str) -> str:
        """Return one header's value in the form that may be shown."""
        folded = name.lower()
        if folded.endswith("authorization"):
            return self._authorization(value)
        if _PLACEHOLDER.fullmatch(value):
            return value
        if folded in {"cookie", "set-cookie"}:
            return self._cookies(folded, value)
        if is_secret_header(folded):
            return self._replace(value.strip())
        if folded in {"location", "referer"}:
            return self.address(value)
        return self.text(value)

    def headers(self, pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
        """Return headers as they may be shown: pairs `[name, value]`, in order."""
        return [[name, self.header(name, value)] for name, value in pairs]

    def body(self, data: bytes, content_type: str | None, limit: int) -> dict[str, Any]:
        """Return a body as it may be shown: size, text without credentials, whether it was cut."""
        shown: dict[str, Any] = {"size": len(data), "content_type": content_type}
        try:
            shown["text"] = self.content(data[:limit].decode(), content_type)
        except UnicodeDecodeError:
            shown["text"] = self.content(data[:limit].decode("utf-8", "replace"), content_type)
            shown["lossy"] = True
        if len(data) > limit:
            shown["truncated"] = True
        return shown

    def content(self, value: str, content_type: str | None) -> str:
        """Return the text of a body, which may have been cut, without its credentials."""
        kind = (content_type or "").partition(";")[0].strip().lower()
        if kind == "application/x-www-form-urlencoded":
            return self.form(value)
        if kind.startswith("multipart/") or value.startswith("--"):
            return self._multipart(value, content_type or "")
        # Without a type a text may only look like a form, so it is read as both.
        return self.text(self.form(value) if _LIKE_FORM.match(value) else value)

    # -- details -----------------------------------------------------------------------------------

    def _text(self, value: str, levels: int) -> str:
        # Each step is behind a cheap look for a character without which it could find nothing. The
        # journal shows thousands of texts, and nearly none of them has a secret.
        if "@" in value and "://" in value:
            value = _URL_PASSWORD.sub(self._url_password, value)
        has_pair, has_json = "=" in value, '"' in value
        if has_json and "\\" in value:  # first, because strings end at quotes without escapes
            value = self._json_escapes(value, levels)
        if has_pair or has_json:
            small = value.lower()
            is_named = any(stem in small for stem in _STEMS)
            is_long = "code" in small or "token" in small
            if has_pair and is_named:
                if _BLANK_VALUE.search(value):
                    # A text may begin with a parameter too, so it gets a mark for a moment.
                    value = _compile(*_PAIR_WITH_BLANKS).sub(
                        self._replace_marked_pair, f"&{value}"
                    )[1:]
                value = _compile(*_PAIR).sub(self._pair, value)
            if has_pair and is_long:
                value = _LONG_PAIR.sub(self._pair, value)
            if has_json and is_named:
                value = _compile(*_JSON).sub(self._json, value)
            if has_json and is_long:
                value = _LONG_JSON.sub(self._long_json, value)
        if has_json and "<" in value:
            value = _compile(*_HIDDEN_INPUT).sub(self._replace_hidden_input, value)
            value = _PIN.sub(lambda found: found[1] + self._replace(found[2].strip()), value)
        if "%" in value:
            value = self._clean_encoded(value, levels)
        return value

    def _url_password(self, found: re.Match[str]) -> str:
        return f"{found['before']}{self._replace(unquote(found['password']))}@"

    def _pair(self, found: re.Match[str]) -> str:
        name, written = found["name"], found["value"]
        if written.startswith('"'):
            return f'{name}="{self._replace(unquote_plus(written.strip(chr(34))))}"'
        return f"{name}={self._replace(unquote_plus(written))}"

    def _replace_marked_pair(self, found: re.Match[str]) -> str:
        return found[0][0] + self._pair(found)

    def _replace_encoded_pair(self, found: re.Match[str]) -> str:
        value = unquote_plus(found["value"].strip('"'))
        return self._pair(found) if is_secret(unquote(found["name"]), value) else found[0]

    def _json(self, found: re.Match[str]) -> str:
        return f'{found[1]}"{self._json_value(found[2])}"'

    def _json_value(self, written: str) -> str:
        """Return what is shown in place of a secret value, of which only a string is learned."""
        decoded = _unescape(written) if written.startswith('"') else None
        return MASK if decoded is None else self._replace(decoded)

    def _long_json(self, found: re.Match[str]) -> str:
        decoded = _unescape(found[3])
        if not is_secret(found[2], found[3].strip('"') if decoded is None else decoded):
            return found[0]
        return f'{found[1]}"{self._json_value(found[3])}"'

    def _replace_hidden_input(self, found: re.Match[str]) -> str:
        return f'{found[1]}"{self._replace(html.unescape(found[2]))}"'

    def _form(self, value: str, levels: int) -> str:
        if "=" not in value:
            return self._text(value, levels)
        if "@" not in value and _PLAIN.fullmatch(value):  # most are, and cost next to nothing
            items = [item.partition("=") for item in value.split("&")]
            return "&".join(
                [
                    f"{n}={self._replace(v)}" if v and is_secret(n, v) else n + sign + v
                    for n, sign, v in items
                ]
            )
        return "&".join([self._form_item(item, levels) for item in value.split("&")])

    def _form_item(self, item: str, levels: int) -> str:
        # The name is decoded before it is compared, since a server decodes it as well:
        # `oauth%5Ftoken` is a secret too. The value may hold another encoded text, with pairs of
        # its own, so it is decoded, cleaned and encoded again, some levels deep.
        name, _, value = item.partition("=")
        if value and is_secret(unquote_plus(name), value):
            return f"{name}={self._replace(unquote_plus(value))}"
        if not _PLAIN.fullmatch(name.replace("%", "")):
            return self._text(item, levels)
        if "#" in value or "?" in value:  # parameters of an address that was not encoded
            name, _, value = self._text(item, levels).partition("=")
            item = f"{name}={value}"
        if "%" in value or "+" in value:
            decoded = unquote_plus(value)
            clean = self._clean_nested(decoded, levels)
            return item if clean == decoded else f"{name}={quote(clean, safe='[]')}"
        clean = self._text(value, levels)
        return item if clean == value else f"{name}={clean}"

    def _clean_encoded(self, value: str, levels: int) -> str:
        """Return a text with percent-encoded parts, such as `…%26oauth_token%3Dabc%26…`."""
        if "=" in value:
            value = _ENCODED_PAIR.sub(self._replace_encoded_pair, value)
        return _ENCODED.sub(lambda found: self._clean_encoded_piece(found[0], levels), value)

    def _clean_encoded_piece(self, piece: str, levels: int) -> str:
        if "%" not in piece:
            return piece
        decoded = unquote_plus(piece)
        clean = decoded if decoded == piece else self._clean_nested(decoded, levels)
        if clean == decoded:
            return piece
        return quote(clean, safe="[]/" if "/" in piece else "[]")

    def _clean_nested(self, decoded: str, levels: int) -> str:
        if not levels:
            return MASK
        # A text would end a value at a quote or a blank.
        if ('"' in decoded or " " in decoded) and _LIKE_FORM.match(decoded):
            decoded = self._form(decoded, levels - 1)
        return self._text(decoded, levels - 1)

    def _json_escapes(self, value: str, levels: int) -> str:
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
            # A name written with escapes is found only after decoding. What follows the colon is
            # then hidden, whatever kind of value it is.
            if colon is not None and _find_least(decoded) is not None:
                secret = _AFTER_COLON.match(value, end)
                if secret is not None and is_secret(decoded, _unquote_json(secret[0])):
                    end = secret.end()
                    parts.append(f'{written}{colon}"{self._json_value(secret[0])}"')
                    continue
            clean = self._clean_nested(decoded, levels)
            shown = written if clean == decoded else json.dumps(clean, ensure_ascii=False)
            parts.append(shown + (colon or ""))
        parts.append(value[end:])
        return "".join(parts)

    def _cookies(self, header_name: str, value: str) -> str:
        if header_name == "set-cookie":
            return _COOKIE.sub(lambda found: "=" + self._replace(found[1].strip('" ')), value, 1)
        for part in value.split(";"):
            self._replace(part.partition("=")[2].strip('" '))
        return MASK

    def _authorization(self, value: str) -> str:
        found = _SCHEME.fullmatch(value.strip())
        if found is None:
            return self._replace(value.strip()) if value.strip() else value
        scheme, rest = found.groups()
        if _PLACEHOLDER.fullmatch(rest):
            return value
        kind = scheme.lower()
        if kind == "oauth" and "=" in rest:
            return f"{scheme} {self._text(_OAUTH_ITEM.sub(self._oauth_item, rest), _MAX_LEVELS)}"
        if kind == "basic":
            self._basic_password(rest)
        return f"{scheme} {self._replace(rest)}"

    def _basic_password(self, encoded: str) -> None:
        try:
            password = base64.b64decode(encoded, validate=True).decode().partition(":")[2]
        except (binascii.Error, ValueError):
            return
        self._replace(password)
        self._replace(unquote(password))

    def _oauth_item(self, found: re.Match[str]) -> str:
        name = unquote(found[1]) if "%" in found[1] else found[1]
        if _find_least(name) is None:
            return found[0]
        value = unquote(found[3].strip('"'))
        secret = is_secret(name, value)
        return f'{found[1]}{found[2]}"{self._replace(value)}"' if secret else found[0]

    def _multipart(self, value: str, content_type: str) -> str:
        named = _BOUNDARY.search(content_type)
        boundary = f"--{named[1]}" if named is not None else ""
        if not boundary or boundary not in value:
            boundary = value.partition("\n")[0].rstrip("\r")
        # The type of the content may be missing, or the body may have been cut. Then the first line
        # is taken for the boundary, if it looks like one.
        if len(boundary) <= 2:
            return self.text(value)
        return boundary.join([self._part(part) for part in value.split(boundary)])

    def _part(self, part: str) -> str:
        """Return a part of a multipart body: headers, and the content unless it is a secret."""
        blank = _BLANK_LINE.search(part)
        if blank is None:
            return self.text(part)
        head = part[: blank.end()]
        held = part[blank.end() :].strip()
        if not any(is_secret(_part_name(found), held) for found in _PART_NAME.finditer(head)):
            return head + self.text(part[blank.end() :])
        ending = "\r\n" if part.endswith("\r\n") else "\n" if part.endswith("\n") else ""
        return f"{head}{self._replace(held)}{ending}"


_masking = Redactor()
text, address, form, pair = _masking.text, _masking.address, _masking.form, _masking.pair
header, headers = _masking.header, _masking.headers
body, content = _masking.body, _masking.content


def key(table: str, value: str) -> str:
    """Return a record's key as it may be shown: that of a token is the token, and is cut."""
    return f"{value[:12]}…" if table == "tokens" else value


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
    # Frameworks write a field of a field as `user[password]` or `user.password`.
    folded = _FIELD_OF.split(name.strip().lower().rstrip("[]"))[-1]
    if folded in _LONG_NAMES:
        return _LONG
    squashed = folded.replace("_", "").replace("-", "").removeprefix("mockplatform")
    return 0 if squashed in _NAMES or squashed.removeprefix("x") in _NAMES else None


@lru_cache(1024)
def is_secret_header(name: str) -> bool:
    """Return whether the whole value of a header is a secret, such as a key or a cookie."""
    squashed = name.lower().replace("-", "").replace("_", "")
    return any(word in squashed for word in _SECRET_WORDS) or is_secret(name)


def is_secret_variable(name: str) -> bool:
    """Return whether a variable of the environment is called a secret."""
    return _SECRET_VARIABLE.search(name) is not None


def _unescape(written: str) -> str | None:
    """Return the decoded JSON string; `None` if it cannot be read."""
    try:
        return str(json.loads(written, strict=False))
    except ValueError:
        return None


def _unquote_json(written: str) -> str:
    """Return a JSON value as text, as far as it can be read."""
    return (_unescape(written) if written.startswith('"') else None) or written.strip('"')


def _part_name(found: re.Match[str]) -> str:
    extended, quoted, bare = found.groups()
    name = bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
    if extended:  # RFC 5987: charset'language'value
        name = name.rpartition("'")[2]
    return unquote(name)
