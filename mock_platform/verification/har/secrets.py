"""Replaces secrets by placeholders that are the same for each occurrence within one archive.

A secret is learned where its name or header says what it is, and from then on replaced wherever it
occurs, in every spelling. A number in the placeholder shows which occurrences were the same, so
that exchanges can still be compared; unlike a hash it says nothing about the value. A secret whose
name says what it is, but which was not learned, is removed afterwards by `redact`.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, unquote

from mock_platform.world import redact

_LEAST = 6
"""Minimum length of a value that is replaced wherever it occurs; shorter ones are usual words."""
_MAX_LEVELS = 4
_OAUTH_ITEM = re.compile(r"([^\s=,\"]+)\s*=\s*\"?([^\",\s]*)")
_OWN = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|CREDENTIAL", re.ASCII)
_HARMLESS = frozenset({"bearer", "client_credentials", "refresh_token", "authorization_code"})
_BACKSLASH = r"(?:\\|%(?:25){0,5}5[cC])"
"""Each level of JSON within JSON doubles them, and an address may be around any level."""


class Secrets:
    """The secrets of one archive. Not safe for concurrent use."""

    def __init__(self) -> None:
        self._placeholders: dict[str, str] = {}
        self._order: list[str] = []
        self._patterns: dict[str, re.Pattern[str]] = {}

    def learn_environment(self, variables: Iterable[tuple[str, str]]) -> None:
        """Learn the values of variables whose names say that they are secrets."""
        for name, value in variables:
            if _OWN.search(name.upper()) and len(value) >= 2 * _LEAST and "/" not in value[:2]:
                self.learn(value)

    def learn_headers(self, headers: Iterable[tuple[str, str]]) -> None:
        """Learn the secrets of headers: authorization, cookies, keys."""
        for name, value in headers:
            folded = name.lower()
            if folded.endswith("authorization"):
                self._learn_authorization(value)
            elif folded == "set-cookie":
                self.learn(value.partition(";")[0].partition("=")[2].strip('" '))
            elif folded == "cookie":
                for part in value.split(";"):
                    self.learn(part.partition("=")[2].strip('" '))
            elif redact.is_secret_header(folded):
                self.learn(value.strip())
            else:
                self.learn_text(value)

    def learn_text(self, value: str, levels: int = _MAX_LEVELS) -> None:
        """Learn the secrets of a form, an address or JSON, and of such texts within."""
        if not levels:
            return
        if "@" in value:
            for found in redact.URL_PASSWORD.finditer(value):
                self.learn(unquote(found["password"]))
        start = value.lstrip()[:1]
        if start in {"{", "["}:
            try:
                self._learn_json(json.loads(value), levels)
            except (ValueError, RecursionError):
                return
        elif "=" in value:
            for part in re.split(r"[?#]", value):
                for name, held in parse_qsl(part, errors="replace"):
                    if redact.is_secret(name, held):
                        self.learn(held)
                    elif "=" in held or "%" in held or held[:1] in {"{", "["}:
                        self.learn_text(held, levels - 1)
        elif "%" in value and (plain := unquote(value)) != value:
            self.learn_text(plain, levels - 1)

    def learn(self, value: str) -> None:
        """Learn a secret, unless it is too short to be distinguished from other texts."""
        if len(value) < _LEAST or value in self._placeholders or value.lower() in _HARMLESS:
            return
        if value.startswith(redact.MASK[:-1]):
            return
        self._placeholders[value] = f"[redacted-{len(self._placeholders) + 1}]"
        self._order = sorted(self._placeholders, key=len, reverse=True)
        self._patterns[value] = _make_pattern(value)

    def hide(self, text: str) -> str:
        """Returns a text with the placeholders of all known secrets in their place."""
        is_escaped = "%" in text or "\\" in text or "&#" in text
        for secret in self._order:
            if secret in text:
                text = text.replace(secret, self._placeholders[secret])
            if is_escaped:
                text = self._patterns[secret].sub(self._placeholders[secret], text)
        return text

    # -- details ------------------------------------------------------------------------------

    def _learn_authorization(self, value: str) -> None:
        scheme, _, rest = value.strip().partition(" ")
        rest = rest.strip()
        if scheme.lower() == "oauth":
            for name, held in _OAUTH_ITEM.findall(rest):
                if redact.is_secret(unquote(name), held):
                    self.learn(unquote(held))
            return
        self.learn(rest or scheme)
        if scheme.lower() != "basic":
            return
        try:
            pair = base64.b64decode(rest, validate=True).decode()
        except (binascii.Error, ValueError):
            return
        held = pair.partition(":")[2]
        self.learn(held)
        self.learn(unquote(held))

    def _learn_json(self, value: Any, levels: int) -> None:
        if isinstance(value, dict):
            for name, held in value.items():
                if isinstance(held, str):
                    if redact.is_secret(name, held):
                        self.learn(held)
                    else:
                        self._learn_nested(held, levels)
                else:
                    self._learn_json(held, levels)
        elif isinstance(value, list):
            for held in value:
                self._learn_json(held, levels)
        elif isinstance(value, str):
            self._learn_nested(value, levels)

    def _learn_nested(self, value: str, levels: int) -> None:
        if "=" in value or "://" in value or value[:1] in {"{", "["}:
            self.learn_text(value, levels - 1)


def _make_pattern(secret: str) -> re.Pattern[str]:
    """Returns a pattern that finds a secret with any of its characters escaped."""
    parts = re.findall(r"\\+|[^\\]", secret, re.DOTALL)
    return re.compile("".join(_spell(part) for part in parts), re.ASCII)


def _spell(character: str) -> str:
    """Returns a pattern of the ways to write a character: as it is, in addresses, JSON and HTML.

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
