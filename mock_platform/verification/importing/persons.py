"""`--anonymise`: what says something about persons becomes made up, wherever a recording has it.

Keys say what a value is: a handle, a name, a text, a picture, an address. What was found so is
replaced everywhere else, too. The same value always becomes the same one, and texts keep their
lengths, spaces and punctuation, so that the indices of mentions, hashtags and links stay right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import count as numbers
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from mock_platform.core.jsonio import loads
from mock_platform.core.platform_hosts import PLATFORM_HOSTS
from mock_platform.core.tables.drawing import FIRST_NAMES, LAST_NAMES
from mock_platform.verification.importing.rewriting import Rewriting
from mock_platform.world.ids import Ids

HANDLE, NAME, TEXT, QUERY, PICTURE, LINK, ADDRESS = (
    "handle", "name", "text", "query", "picture", "link", "address",
)  # fmt: skip
Find = tuple[str, str]
"""The kind of a value, and the value."""

_HANDLES = re.compile(r"(?:.*_)?(?:screen_name|username|account_name)s?")
_TEXTS = frozenset({
    "text", "full_text", "description", "bio", "label", "alt_text", "tag", "group_name", "title",
    "summary", "hook", "keyword", "slug", "full_name",
})  # fmt: skip
_PERSON_NAMES = frozenset({"first_name", "last_name", "given_name", "family_name"})
_ADDRESSES = re.compile(
    r"address_(?!country).*|(?:.*_)?(?:email|phone|phone_number|postal_code)s?|location|street"
    r"|city|ip|ip_address|client_ip|notification_email|contact_phone_extension"
)
_PICTURES = re.compile(
    r"(?:.*_)?(?:image|banner|badge|avatar|picture|media|poster|preview|thumbnail|photo|video)"
    r"(?:_.*)?_(?:url|urls|url_https|src)(?:_.*)?"
)
_LINKS = frozenset({"expanded_url", "display_url", "unwound_url", "uri"})
_BESIDE_LINKS = frozenset({"expanded_url", "display_url", "indices", "start"})
_BESIDE_PICTURES = frozenset({"media_key", "bit_rate", "bitrate", "content_type"})
_OF_USERS = frozenset({"screen_name", "username"})
_OF_PROBLEMS = frozenset({"detail", "type", "errors"})
_OF_PLACES = frozenset({"place_type", "bounding_box"})
_OF_LISTS = frozenset({"owner_id", "member_count", "follower_count", "subscriber_count", "mode"})
_OF_RULES = frozenset({"value", "tag", "id"})
_OF_PLATFORM = frozenset({"domain", "entity", "topics"})
"""Objects whose names and descriptions the platform has written."""
_POSITIONS = frozenset({"coordinates", "bbox", "lat", "long", "latitude", "longitude"})
_KEPT_HOSTS = ("t.co", "pic.twitter.com", "pic.x.com", *PLATFORM_HOSTS)
_KEPT_SEGMENTS = frozenset({"status", "statuses", "photo", "video", "i", "web", "lists", "hashtag"})
_LETTERS = r"(?:[^\W\d_]|[\u0300-\u036f\u0900-\u0dff\u0e30-\u0e4e])+"
"""Letters with the marks that belong to them, of any script."""
_TOKEN = re.compile(
    rf"(?P<kept>\[redacted[^\]\s]*\]|&(?:amp|lt|gt|quot);)|(?P<link>https?://\S+)"
    rf"|(?P<mail>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)|(?<!\w)[@\uff20](?P<handle>\w{{1,15}})"
    rf"|(?P<word>{_LETTERS})|(?P<number>\d{{3,}})"
)
_PART = re.compile(rf"(?P<word>{_LETTERS})|(?P<number>\d+)")
_OPERATOR = re.compile(r"([\w.]+):(\"[^\"]*\"|[^\s()]+)|\s+|[@#$]?\w+|\W")
_OF_HANDLES = frozenset({"from", "to", "retweets_of", "reposts_of", "user"})
_HANDLE_IN_QUERY = re.compile(rf"\b(?:{'|'.join(sorted(_OF_HANDLES))}):@?(\w{{1,15}})")
_OF_WORDS = frozenset({"url", "bio", "bio_name", "bio_location", "url_title", "conversation"})
_START = re.compile(r"\w+")
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_SHORT = 2
"""Letters of ASCII that say nothing about anybody: words of so many stay."""


@lru_cache(4096)
def find_kind(
    name: str, beside: frozenset[str], parent: str, *, has_own_names: bool = False
) -> str | None:
    """Return what a text is at a key beside others, in an object at the key `parent`.

    `None` is what says nothing about persons. With `has_own_names` people have chosen all names.
    """
    name = name.lstrip("_")
    is_theirs = parent not in _OF_PLATFORM and not beside & _OF_PROBLEMS
    is_named = name == "name" and (has_own_names or bool(beside & _OF_LISTS))
    is_query = name == "value" and "value" in beside and beside <= _OF_RULES
    is_link = name == "url" and bool(beside & (_BESIDE_LINKS | _OF_USERS))
    is_picture = name == "url" and bool(beside & _BESIDE_PICTURES)
    is_place = name in {"name", "full_name"} and bool(beside & _OF_PLACES)
    is_person = name == "name" and bool(beside & _OF_USERS)
    tests = (
        (HANDLE, _HANDLES.fullmatch(name)),
        (QUERY, name in {"query", "q"} or is_query),
        (PICTURE, _PICTURES.fullmatch(name) or is_picture),
        (LINK, name in _LINKS or is_link),
        (ADDRESS, _ADDRESSES.fullmatch(name) or is_place),
        (NAME, name in _PERSON_NAMES or is_person),
        (TEXT, is_theirs and (name in _TEXTS or is_named)),
    )
    return next((kind for kind, holds in tests if holds), None)


class RemainsOfPersons(ValueError):
    """The folder would still have something of a person; `places` says where."""

    def __init__(self, places: list[str]) -> None:
        shown = "\n  ".join(places[:20])
        super().__init__(
            f"Something of a person would be left in {len(places):,} places, so no folder was "
            f"written:\n  {shown}"
        )
        self.places = places


class PersonTranslation(Rewriting):
    """Replaces what says something about persons. Every exchange is shown to it twice.

    The first time it learns what there is, and changes nothing; after `prepare` it rewrites.
    """

    def __init__(self) -> None:
        self.found: set[Find] = set()
        self._ids = Ids(0, "persons")
        self._is_ready = False
        self._words: set[str] = set()
        """All words of texts, in lower case: no made-up one is among them."""
        self._handles: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._phrases: dict[str, list[Find]] = {}
        """What is replaced in other texts, too, by its first word."""
        self._parts: set[str] = set()
        """First and last names, and whatever else is a word of a name with several."""
        self._has_own_names = False
        self.make_word = cache(self._make_word)

    def learn(self, exchange: Any) -> None:
        """Take note of everything personal in an exchange."""
        self.rewrite(exchange)

    def prepare(self) -> None:
        """Choose what becomes of all that was found."""
        self._is_ready = True
        taken = {value for kind, value in self.found if kind == HANDLE}
        for kind, value in sorted(self.found):
            if kind == HANDLE:
                self._handles[value] = self._choose(value, taken.__contains__)
                taken.add(self._handles[value])
            elif kind == NAME:
                words = re.findall(_LETTERS, value)
                self._parts.update(w for w in words if len(words) > 1 and len(w) > _SHORT)
                self._names[value] = self._choose_name(value)
        for kind, value in sorted(self.found):
            phrase = _strip_scheme(value) if kind == LINK else value
            first = _START.search(phrase)
            if first is not None and kind not in {HANDLE, QUERY} and _is_sure(phrase):
                own = self._phrases.setdefault(first[0].casefold(), [])
                own.append((kind, phrase[first.start() :]))
        for phrases in self._phrases.values():
            phrases.sort(key=lambda each: -len(each[1]))

    def rewrite(self, exchange: Any, places: Iterable[int] = ()) -> Any:
        """Return an exchange in which nothing is about a person any more."""
        path = exchange.request.path
        self._has_own_names = "/lists" in path or "/bookmarks/folders" in path
        return super().rewrite(exchange, places)

    def rewrite_value(self, value: Any, name: str = "") -> Any:
        """Return a JSON value at a key of this name, with what is made up."""
        return self._rewrite(value, name, frozenset(), "")

    def rewrite_plain(self, text: str) -> str:
        """Return a text that is no JSON, with what is known of persons replaced."""
        return self._rewrite_other(text)

    def rewrite_segment(self, text: str, before: str, *, is_parameter: bool) -> str:
        """Return a segment of a path: a handle after `username`, else as it is."""
        return self._replace(HANDLE, text) if before in _OF_USERS else text

    def rewrite_pair(self, name: str, value: str) -> str:
        """Return the value of a parameter."""
        return (
            self._replace(TEXT, value)
            if name == "status"
            else self._text(value, name, frozenset(), "")
        )

    # -- by key ----------------------------------------------------------------------------------

    def _rewrite(self, value: Any, name: str, beside: frozenset[str], parent: str) -> Any:
        if isinstance(value, dict):
            own = frozenset(value)
            return {key: self._rewrite(item, key, own, name) for key, item in value.items()}
        if isinstance(value, list):
            return [self._rewrite(item, name, beside, parent) for item in value]
        if isinstance(value, str):
            return self._text(value, name, beside, parent)
        if name in _POSITIONS and isinstance(value, int | float) and not isinstance(value, bool):
            return round(self._ids.fraction("position", value) * 120 - 60, 4)
        return value

    def _text(self, text: str, name: str, beside: frozenset[str], parent: str) -> str:
        kind = find_kind(name, beside, parent, has_own_names=self._has_own_names)
        if kind is None:
            return self._rewrite_other(text, name)
        if kind == HANDLE:
            return ",".join(self._replace(HANDLE, each) for each in text.split(","))
        return self._replace(kind, text)

    def _replace(self, kind: str, text: str) -> str:
        if not text or text.startswith("[redacted"):
            return text
        if not self._is_ready:
            self._learn(kind, text)
            return text
        return self.make(kind, text)

    def _learn(self, kind: str, text: str) -> None:
        self.found.add((kind, text.casefold() if kind == HANDLE else text))
        if kind in {TEXT, QUERY, ADDRESS, NAME}:
            for token in _TOKEN.finditer(text):
                if token["word"]:
                    self._words.add(token["word"].casefold())
                elif token["handle"]:
                    self.found.add((HANDLE, token["handle"].casefold()))
        for handle in _HANDLE_IN_QUERY.findall(text) if kind == QUERY else ():
            if not handle.isdecimal():
                self.found.add((HANDLE, handle.casefold()))

    def make(self, kind: str, text: str) -> str:
        """Return what a value of some kind becomes."""
        if kind == HANDLE:
            return self._make_handle(text)
        if kind == NAME:
            return self._names.get(text) or self._choose_name(text)
        if kind == PICTURE:
            ending = re.search(r"\.\w{2,4}(?=$|\?)", text)
            return f"https://pictures.example/{self._spell(text, 12)}{ending[0] if ending else ''}"
        if kind == LINK:
            return self._make_link(text)
        return self._make_query(text) if kind == QUERY else self._make_text(text)

    # -- what they become ------------------------------------------------------------------------

    def _make_text(self, text: str) -> str:
        return _TOKEN.sub(self._make_token, text)

    def _make_token(self, token: re.Match[str]) -> str:
        if token["kept"]:
            return token[0]
        if token["link"]:
            return self._make_link(token[0])
        if token["mail"]:
            local, _, host = token[0].partition("@")
            return f"{self._make_parts(local)}@{self._make_host(host)}"
        if token["handle"]:
            return token[0][0] + self._make_handle(token["handle"])
        return self.make_word(token["word"]) if token["word"] else self._make_number(token[0])

    def _make_query(self, text: str) -> str:
        """Return a search with other words and handles; operators and their options stay."""

        def replace(found: re.Match[str]) -> str:
            operator, option = found[1], found[2]
            if operator is None:
                is_operator = found[0] in {"AND", "OR", "NOT"} or found[0].isspace()
                return found[0] if is_operator else self._make_text(found[0])
            if operator in _OF_HANDLES:
                return f"{operator}:{_PART_OF_HANDLE.sub(self._replace_handle, option)}"
            return f"{operator}:{self._make_text(option)}" if operator in _OF_WORDS else found[0]

        return _OPERATOR.sub(replace, text)

    def _replace_handle(self, found: re.Match[str]) -> str:
        return found[0] if found[0].isdecimal() else self._make_handle(found[0])

    def _make_link(self, text: str) -> str:
        rest = _strip_scheme(text)
        scheme = text[: len(text) - len(rest)]
        name = re.split(r"[/?#\s]", rest, maxsplit=1)[0]
        is_kept = not name or _find_host(text) in _KEPT_HOSTS
        made = name if is_kept else self._make_host(name)
        way = rest[len(name) :]
        made += re.sub(r"\w+", self._make_segment, way) if is_kept else self._make_parts(way)
        return scheme + made

    def _make_segment(self, found: re.Match[str]) -> str:
        word = found[0]
        if word.casefold() in self._handles:
            return self._make_handle(word)
        return word if word.isdecimal() or word in _KEPT_SEGMENTS else self._spell(word, len(word))

    def _make_parts(self, text: str) -> str:
        return _PART.sub(
            lambda part: (
                self._spell(part[0].casefold(), len(part[0]))
                if part["word"]
                else self._make_number(part[0])
            ),
            text,
        )

    def _make_host(self, host: str) -> str:
        """Return a host of the same length under a reserved ending, if it is long enough."""
        for ending in (".example", ".test"):
            if len(host) > len(ending):
                return self._spell(host.casefold(), len(host) - len(ending)) + ending
        return self._spell(host.casefold(), len(host))

    def _make_number(self, digits: str) -> str:
        noise = int.from_bytes(self._ids.noise(f"number/{digits}"))
        made = str(noise)[-len(digits) :] if len(digits) < 150 else "7" * len(digits)
        return made if digits[0] == "0" else f"{1 + noise % 9}{made[1:]}"

    def _make_word(self, word: str) -> str:
        if _is_short(word):
            return word
        made = self._choose(word.casefold(), lambda each: each in self._words, len(word))
        if word.isupper():
            return made.upper()
        return made.capitalize() if word[:1].isupper() else made

    def _make_handle(self, text: str) -> str:
        return self._handles.get(text.casefold()) or self._choose(text.casefold(), lambda _: False)

    def _choose(
        self, value: str, is_taken: Callable[[str], bool], length: int | None = None
    ) -> str:
        """Return letters of the same length that are not taken; of a single one, any."""
        length = len(value) if length is None else length
        for nonce in numbers():
            made = self._spell(f"{value}/{nonce}" if nonce else value, length)
            if not is_taken(made) or nonce > 1000:
                return made
        raise AssertionError  # the numbers never end

    def _choose_name(self, value: str) -> str:
        """Return the name of a person without a word that the recording has."""
        for nonce in numbers():
            noise = int.from_bytes(self._ids.noise(f"name/{value}/{nonce}"))
            noise, first = divmod(noise, len(FIRST_NAMES))
            made = f"{FIRST_NAMES[first]} {LAST_NAMES[noise % len(LAST_NAMES)]}"
            if self._words.isdisjoint(made.casefold().split()) or nonce > 1000:
                return made
        raise AssertionError  # the numbers never end

    def _spell(self, value: str, length: int) -> str:
        """Return so many letters that follow from a value, as they could be spoken."""
        made = ""
        for block in numbers():
            if len(made) >= length:
                return made[:length]
            for byte in self._ids.noise(f"letters/{value}/{block}"):
                letters = _VOWELS if len(made) % 2 else _CONSONANTS
                made += letters[byte % len(letters)]
        return made

    # -- elsewhere -------------------------------------------------------------------------------

    def _rewrite_other(self, text: str, name: str = "") -> str:
        """Return another text, with the names, texts and handles that are known replaced."""
        if not self._is_ready:
            return text
        if name in {"value", "resource_id"} and text.casefold() in self._handles:
            return self._make_handle(text)
        made, at = [], 0
        for kind, start, end in self.find_known(text):
            if start >= at:
                made += [text[at:start], self.make(kind, text[start:end])]
                at = end
        return "".join(made) + text[at:]

    def find_known(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield kind, start and end of what a text has of the known names, texts and handles."""
        for word in _START.finditer(text):
            start, folded = word.start(), word[0].casefold()
            for kind, phrase in self._phrases.get(folded, ()):
                end = start + len(phrase)
                if text[start:end] == phrase and not text[end : end + 1].isalnum():
                    yield kind, start, end
                    break
            else:
                before = text[max(0, start - 1) : start]
                if word[0] in self._parts and word[0][0].isupper() and " " in text:
                    yield TEXT, start, word.end()
                if folded in self._handles and (before in _BEFORE_HANDLES or _is_rare(folded)):
                    yield HANDLE, start, word.end()

    def _is_personal(self, kind: str, value: str) -> bool:
        """Whether a value has anything to replace; a lone emoji, or a platform's link, has not."""
        if kind == QUERY:
            return self._make_query(value) != value
        if kind == LINK and _find_host(value) in _KEPT_HOSTS:
            words = re.findall(r"[^\W\d]\w*", _strip_scheme(value).partition("/")[2])
            return not _KEPT_SEGMENTS.issuperset(words)
        return kind == HANDLE or any(
            not token["kept"] and not (token["word"] and _is_short(token[0]))
            for token in _TOKEN.finditer(value)
        )

    def find_remains(self, folder: Path) -> list[str]:
        """Return where the files of a folder have something of what was found."""
        places = []
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            written, other = _read_document(file), PersonTranslation()
            other.rewrite_value(written)
            for kind, value in sorted(self.found & other.found):
                if self._is_personal(kind, value):
                    places.append(f"{file.relative_to(folder)}: a {kind}, {_mask(value)}")
            for text in _list_texts(written):
                for kind, start, end in self.find_known(text):
                    value = text[start:end]
                    if self._is_personal(kind, value):
                        places.append(f"{file.relative_to(folder)}: a {kind}, {_mask(value)}")
        return list(dict.fromkeys(places))


_PART_OF_HANDLE = re.compile(r"\w+")
_BEFORE_HANDLES = ("@", "\uff20", "[", "'", '"', "=")


def _is_sure(phrase: str) -> bool:
    """Whether a value is replaced wherever it is: it is too long to be something else."""
    return len(phrase) >= 6 and re.search(r"\w\W+\w", phrase) is not None


def _is_rare(handle: str) -> bool:
    """Whether a word that is a handle can hardly be anything else."""
    return len(handle) >= 10 or re.search(r"[_0-9]", handle) is not None


def _is_short(word: str) -> bool:
    return len(word) <= _SHORT and word.isascii()


def _find_host(link: str) -> str:
    return re.split(r"[/?#\s]", _strip_scheme(link), maxsplit=1)[0].lower().removeprefix("www.")


def _strip_scheme(link: str) -> str:
    return re.sub(r"^https?://", "", link)


def _mask(value: str) -> str:
    """Return enough of a value to find it."""
    return f"{value[:2]}… of {len(value)} characters"


def _read_document(file: Path) -> Any:
    if file.suffix == ".json":
        return loads(file.read_bytes())
    from ruamel.yaml import YAML  # only folders with failures need it

    return YAML(typ="safe", pure=True).load(file.read_text("utf-8"))


def _list_texts(value: Any) -> Iterator[str]:
    """Yield all texts of a document, and what they are without percent signs."""
    if isinstance(value, Mapping):
        value = [*value, *(each for key, each in value.items() if key != "on")]
    if isinstance(value, list):
        for each in value:
            yield from _list_texts(each)
    elif isinstance(value, str):
        yield value
        if "%" in value:
            yield unquote(value)
