"""The pairs of neutral and original names, and the translation of JSON by those of a dialect."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct, field

Names = Mapping[str, str]

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[a-z_]+)*")
_QUOTED = re.compile(r'("(?:[^"\\]|\\.)*"|(?<!not one of )(?<!enumeration )\[[^\]]*\])')
"""What a sentence may repeat of the request: between quotes or brackets, but no list of names."""
_OF_ITS_OWN = re.compile(r'^"([a-z_]+)"(?= is a required parameter)')
"""The one sentence that puts a parameter's name between quotes."""

_NOUN = re.compile(
    r"^(Could not find |You are not allowed to create a |You are not authorized to delete this |"
    r"Sorry, you are not authorized to (?:see the |access '[a-z_.]+' on (?:a|the) )|"
    r"This (?=post cannot|tweet cannot))([Pp]ost|[Tt]weet)\b"
)
"""The sentences that name what they are about."""
_NOUNS = {"post": "tweet", "Post": "Tweet"}


class Pairs(Struct, frozen=True):
    """Pairs of one dialect, each from neutral to original; a subject declares its own.

    A dialect has its own, because the same neutral name can have another original elsewhere:
    `post_id` is `tweet_id` on the advertising interface and `post_id` under `/2`.

    Example:
        >>> Pairs({"post_id": "tweet_id"}).join(Pairs(segments={"posts": "tweets"})).names
        {'post_id': 'tweet_id'}
    """

    names: Names = field(default_factory=dict)
    """Names of parameters, fields and keys."""
    values: Mapping[str, Names] = field(default_factory=dict)
    """Values, by the neutral name of the field that has them."""
    within: Mapping[str, Pairs] = field(default_factory=dict)
    """Further pairs that hold only below a key."""
    segments: Names = field(default_factory=dict)
    """Segments of paths."""
    named: frozenset[str] = frozenset()
    """Fields whose values are names of fields or parameters."""
    keyed: frozenset[str] = frozenset()
    """Fields whose values are objects with names of parameters as keys."""
    spoken: frozenset[str] = frozenset()
    """Fields whose values are sentences of the sandbox."""
    sentences: Names = field(default_factory=dict)
    """Whole sentences that programs compare, which the rules for single words do not make."""
    free: frozenset[str] = frozenset()
    """Keys whose values are the user's own or have no declared form: copied as they are."""

    def join(self, other: Pairs) -> Pairs:
        """Return the pairs of both.

        Raises:
            ValueError: They have different originals for a name, a segment or a value.
        """
        values = dict(self.values)
        for name, more in other.values.items():
            values[name] = _join(values.get(name, {}), more)
        within = dict(self.within)
        for name, inner in other.within.items():
            within[name] = within[name].join(inner) if name in within else inner
        return Pairs(
            _join(self.names, other.names),
            values,
            within,
            _join(self.segments, other.segments),
            self.named | other.named,
            self.keyed | other.keyed,
            self.spoken | other.spoken,
            _join(self.sentences, other.sentences),
            self.free | other.free,
        )


def _join(one: Names, other: Names) -> Names:
    for name in one.keys() & other.keys():
        if one[name] != other[name]:
            raise ValueError(f"{name} has two original names: {one[name]} and {other[name]}")
    return {**one, **other}


class Spelling:
    """The names of one dialect in their original form; `nouns` are those of sentences."""

    def __init__(self, pairs: Pairs, nouns: Names = _NOUNS) -> None:
        self._pairs = pairs
        self._words = _collect_words(pairs)
        self._nouns = nouns

    @classmethod
    def to_neutral(cls, pairs: Pairs, mark: str = "") -> Spelling:
        """Return what reads answers with original names: the same table, the other way.

        A key or value that has its neutral name although the original is another one is not what
        the platform would write; `mark` is added to it.
        """
        found = cls(invert(pairs, mark), _invert(_NOUNS))
        found._words = _invert(_collect_words(pairs))
        return found

    def write(self, value: Any) -> Any:
        """Return a value with the other names; neither order nor types change."""
        return self._write(value, self._pairs.names, self._pairs.values)

    def _write(self, value: Any, names: Names, values: Mapping[str, Names]) -> Any:
        if isinstance(value, list):
            return [self._write(item, names, values) for item in value]
        if not isinstance(value, dict):
            return value
        return {
            names.get(key, key): self._write_member(key, inner, names, values)
            for key, inner in value.items()
        }

    def _write_member(self, key: str, value: Any, names: Names, values: Mapping[str, Names]) -> Any:
        pairs = self._pairs
        # The order matters. Texts of users are never touched; sentences of the sandbox are written
        # as sentences; values that name fields or are enumerated are mapped; all else is walked
        # into, with the names that hold below this key added to those that hold everywhere.
        if key in pairs.free:
            return value
        if key in pairs.spoken and isinstance(value, str):
            return self.write_sentence(value)
        if isinstance(value, str | list):
            if key in pairs.named:
                value = _map_texts(value, self.write_name)
            elif key in values:
                value = _map_texts(value, partial(_map_words, values=values[key]))
        elif key in pairs.keyed and isinstance(value, dict):
            return {self.write_name(name): inner for name, inner in value.items()}
        inner = pairs.within.get(key)
        if inner is not None:
            names, values = {**names, **inner.names}, {**values, **inner.values}
        return self._write(value, names, values)

    def write_name(self, name: str) -> str:
        """Return the name of a parameter or field, or a path of names such as `a.b[0]`."""
        whole = self._pairs.names.get(name)
        return whole or _WORD.sub(lambda word: self._write_word(word[0]), name)

    def write_sentence(self, text: str) -> str:
        """Return a sentence of the sandbox with original names; what it quotes stays as it is."""
        # Only the sandbox's own words are translated. What a sentence quotes came from the request
        # and has to come back as it was sent; it is between quotes or brackets, and the split keeps
        # it at the odd places.
        whole = self._pairs.sentences.get(text)
        if whole is not None:
            return whole
        nouns = self._nouns
        text = _NOUN.sub(lambda found: f"{found[1]}{nouns.get(found[2], found[2])}", text)
        own = _OF_ITS_OWN.match(text)
        begin = ""
        if own is not None:
            begin, text = f'"{self.write_name(own[1])}"', text[own.end() :]
        parts = _QUOTED.split(text)
        parts[::2] = [
            _WORD.sub(lambda word: self._write_word(word[0]), part) for part in parts[::2]
        ]
        return begin + "".join(parts)

    def write_pairs(self, sent: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the parameters of a query or form with the other names and values."""
        pairs, found = self._pairs, []
        for name, value in sent:
            text = value
            if name in pairs.named:
                text = ",".join(self.write_name(each.strip()) for each in value.split(","))
            elif name in pairs.values:
                text = _map_items(value, pairs.values[name])
            found.append((pairs.names.get(name, name), text))
        return found

    def write_place(self, place: str) -> str:
        """Return a place in a body, such as `data[].post_id`, with the other names."""
        names = dict(self._pairs.names)
        if place in names:
            return names[place]
        found = []
        for part in place.split("."):
            name, bracket, rest = part.partition("[")
            found.append(names.get(name, name) + bracket + rest)
            if (inner := self._pairs.within.get(name)) is not None:
                names |= inner.names
        return ".".join(found)

    def write_value(self, place: str, value: str) -> str:
        """Return an enumerated value, or several with commas, of the field at a place."""
        name = place.rpartition(".")[2].partition("[")[0]
        values = dict(self._pairs.values.get(name, {}))
        for each in place.split("."):
            inner = self._pairs.within.get(each.partition("[")[0])
            values |= {} if inner is None else inner.values.get(name, {})
        return ", ".join(values.get(each, each) for each in value.split(", "))

    def _write_word(self, word: str) -> str:
        whole = self._words.get(word)
        return whole or ".".join(self._words.get(part, part) for part in word.split("."))


class Reading:
    """Reads one operation's parameters under either name."""

    def __init__(self, pairs: Pairs, declared: frozenset[str]) -> None:
        """`declared` are the names that the operation declares, at any depth, in neutral form."""
        self._pairs = pairs
        # Only names that the operation has are translated back. Otherwise a parameter that happens
        # to be called like the original of something else would be changed into it.
        self._names = {
            original: neutral
            for neutral, original in pairs.names.items()
            if neutral in declared and original not in declared
        }
        self._values = {
            name: {original: neutral for neutral, original in values.items()}
            for name, values in pairs.values.items()
            if name in declared and name != "code"
        }

    def __bool__(self) -> bool:
        """Whether any of them has another name or value."""
        return bool(self._names or self._values)

    def read_pairs(self, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return parameters of a query or form with neutral names and values."""
        found = []
        for name, value in pairs:
            neutral = self._names.get(name, name)
            values = self._values.get(neutral)
            found.append((neutral, value if values is None else _map_items(value, values)))
        return found

    def read(self, value: Any, repeated: Callable[[str, str], object]) -> Any:
        """Return a JSON body with neutral names and values.

        If an object has a key under both names the first counts, and `repeated` is called with
        both.
        """
        if isinstance(value, list):
            return [self.read(item, repeated) for item in value]
        if not isinstance(value, dict):
            return value
        found: dict[str, Any] = {}
        for key, inner in value.items():
            sent = str(key)
            # Both names may be in one object. The first one counts, as with repeated parameters,
            # and the journal says so.
            neutral = self._names.get(sent, sent)
            if neutral in found:
                repeated(neutral, sent)
                continue
            values = self._values.get(neutral)
            if neutral in self._pairs.free:
                found[neutral] = inner
            elif values is not None:
                found[neutral] = _map_texts(inner, partial(_map_items, values=values))
            else:
                found[neutral] = self.read(inner, repeated)
        return found


def invert(pairs: Pairs, mark: str = "") -> Pairs:
    """Return the same pairs, each from original to neutral; `mark` is added to neutral keys."""

    def turn(names: Names) -> dict[str, str]:
        marked = {name: f"{name}{mark}" for name in names} if mark else {}
        return {**_invert(names), **marked}

    def rename(found: frozenset[str]) -> frozenset[str]:
        return frozenset(pairs.names.get(name, name) for name in found)

    return Pairs(
        turn(pairs.names),
        values={pairs.names.get(n, n): turn(values) for n, values in pairs.values.items()},
        within={pairs.names.get(n, n): invert(inner, mark) for n, inner in pairs.within.items()},
        named=rename(pairs.named),
        keyed=rename(pairs.keyed),
        spoken=rename(pairs.spoken),
        sentences=_invert(pairs.sentences),
        free=rename(pairs.free),
    )


def _invert(names: Names) -> dict[str, str]:
    return {original: neutral for neutral, original in names.items()}


def _map_items(text: str, values: Names) -> str:
    """Return a value, or values with commas between them, under other names."""
    return ",".join(_map_words(each.strip(), values) for each in text.split(","))


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a text, or the texts of a list at any depth, changed; all else as it is."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_map_texts(item, change) for item in value]
    return value


def _map_words(text: str, values: Names) -> str:
    """Return a value, or values with blanks between them, under other names."""
    found = values.get(text)
    if found is not None or " " not in text:
        return found or text
    return " ".join(values.get(word, word) for word in text.split(" "))


def _collect_words(pairs: Pairs) -> dict[str, str]:
    """Return all names and values that a sentence can have, without words of plain English."""
    found = dict(pairs.names)
    for values in pairs.values.values():
        found |= values
    for inner in pairs.within.values():
        found |= inner.names
    return {name: original for name, original in found.items() if not name.isalpha()}
