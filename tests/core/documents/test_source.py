from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.core.documents import source as documents
from mock_platform.core.documents.source import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_VALUES,
    Malformed,
    Source,
    read,
)
from tests.generated import examples

YAML = Path("a.yaml")
JSON = Path("a.json")


def data(text: str, file: Path = YAML) -> Any:
    """What a text says."""
    return read(file, text.encode()).data


def fault(text: str, file: Path = YAML) -> tuple[int, int, str]:
    """Where a text cannot be read, and why."""
    with pytest.raises(Malformed) as raised:
        read(file, text.encode())
    return raised.value.line, raised.value.column, raised.value.text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("true", True),
        ("~", None),
        ("1", 1),
        ("-12", -12),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("1e-300", 1e-300),
        ("1e999", "1e999"),
        ("'1'", "1"),
        ('"true"', "true"),
        (".inf", ".inf"),
        ("012345678901234567890", "012345678901234567890"),
        ("|\n  a\n  b\n", "a\nb\n"),
    ],
)
def test_values_are_those_of_yaml_1_2(text: str, value: Any) -> None:
    """Words, times and dates stay text; numbers, truth values and null are what they look like."""
    found = data(f"value: {text}")["value"]

    assert (value, type(value)) == (found, type(found))


@pytest.mark.parametrize("file", [YAML, JSON])
def test_json_is_read_alike(file: Path) -> None:
    """A JSON document says the same under either name."""
    assert {"a": [1, {"b": None}], "c": "x"} == data('{"a": [1, {"b": null}], "c": "x"}', file)


def test_places() -> None:
    """Everything has the place of its key, or of its entry in a list."""
    source = read(YAML, b"name: a\nrules:\n  - on: x\n    then: {error: 89}\n")

    assert (1, 1) == source.locate(("name",))
    assert (3, 5) == source.locate(("rules", 0))
    assert (4, 12) == source.locate(("rules", 0, "then", "error"))
    assert (4, 5) == source.locate(("rules", 0, "then", "nothing", "below"))
    assert (2, 3) == read(JSON, b'{"a": 1,\n  "b": 2}').locate(("b",))


@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("a: &x 1\nb: *x", 1, 4, "anchors"),
        ("a: 1\nb: *x", 2, 4, "aliases"),
        ("a: !!python/object:os.system x", 1, 4, "tags are not allowed"),
        ("%TAG ! tag:x,2000:\n---\na: 1", 2, 1, "tags are not allowed"),
        ("a: 1\na: 2", 2, 1, 'key "a" occurs twice'),
        ("a: 1\n---\nb: 1", 2, 1, "second document"),
        ("a: 1\nb: [", 2, 5, "not valid YAML"),
        ("a: 1\nb: [1,\n2\nc: 3", 2, 4, "what opens here is not closed; line 4: expected"),
        ('a: "b\nc: d\n', 1, 4, "what opens here is not closed; line 3: found"),
        ("? [a]\n: b", 1, 3, "a key must be plain text"),
        ("", 1, 1, "the file is empty"),
        ("a: \x01", 1, 1, "not valid YAML"),
    ],
)
def test_what_is_not_taken(text: str, line: int, column: int, expected: str) -> None:
    """Of YAML only what JSON also has is accepted; the rest is refused at its place."""
    found = fault(text)

    assert (line, column) == found[:2]
    assert expected in found[2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, "a": 2}', 'key "a" occurs twice'),
        ('{"a": }', "not valid JSON"),
        ('{"a": NaN}', "not valid JSON"),
    ],
)
def test_json_that_is_not_taken(text: str, expected: str) -> None:
    """JSON is checked by the same rules."""
    assert expected in fault(text, JSON)[2]


def test_not_utf_8() -> None:
    """The line of the first bad byte is reported."""
    with pytest.raises(Malformed) as raised:
        read(YAML, b"a: 1\nb: \xe4\n")

    assert (2, "not UTF-8 text") == (raised.value.line, raised.value.text)


@pytest.mark.parametrize("file", [YAML, JSON])
def test_depth_limit(file: Path) -> None:
    """A document may be nested so deep and no deeper."""
    deep = "[" * MAX_DEPTH + "]" * MAX_DEPTH

    data(deep, file)
    assert f"{MAX_DEPTH} levels" in fault(f"[{deep}]", file)[2]


@pytest.mark.parametrize("file", [YAML, JSON])
def test_value_limit(file: Path) -> None:
    """A document may hold so many values and no more, the list around them included."""
    fits = "[" + ",".join(["1"] * (MAX_VALUES - 1)) + "]"

    assert MAX_VALUES - 1 == len(data(fits, file))
    assert f"{MAX_VALUES:,} values" in fault(fits.replace("[", "[1,"), file)[2]


def test_size_limit() -> None:
    """A document may have so many bytes and no more."""
    fits = '"' + "x" * (MAX_BYTES - 2) + '"'

    assert MAX_BYTES - 2 == len(data(fits, JSON))
    assert f"larger than {MAX_BYTES:,} bytes" in fault(fits + " ", JSON)[2]


@given(st.text(alphabet="{}[]&*!|>'\"%@`#?:-, \n\tab1~.<", max_size=300))
@examples(150)
def test_no_text_breaks_the_reader(text: str) -> None:
    """Whatever a file holds, it is read or refused with a place."""
    try:
        data(text)
    except Malformed as fault:
        found = fault
    else:
        return
    assert found.line >= 1
    assert found.column >= 1
    assert found.text


TEXT = """[
  {"id": "1", "tags": ["a", "b"]},
  {"id": "2", "id": "3"}
]"""


@pytest.mark.parametrize(
    ("at", "place"),
    [
        ((), (1, 1)),
        ((0,), (2, 3)),
        ((0, "tags", 1), (2, 29)),
        ((0, "name"), (2, 3)),
        ((1, "id"), (3, 4)),
        ((7,), (1, 1)),
    ],
)
def test_places_in_json(at: tuple[int | str, ...], place: tuple[int, int]) -> None:
    """A key is where it begins, the first of equal ones counts, and what is absent is around."""
    assert place == Source(JSON, None, TEXT).locate(at)


def test_each_container_is_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with many faults is not walked through for each of them."""
    walked: list[int] = []
    walk = documents._list_items

    def count(text: str, position: int) -> Any:
        walked.append(position)
        return walk(text, position)

    monkeypatch.setattr(documents, "_list_items", count)
    source = Source(JSON, None, TEXT)
    places = [source.locate((index, "id")) for index in (0, 1, 0, 1)]

    assert ([(2, 4), (3, 4)] * 2, 3) == (places, len(walked))


TOML = """# names
[serve]
  port = 1
"host" = "x"
[run.deep]
a.b = 2
"""


@pytest.mark.parametrize(
    ("at", "place"),
    [
        (("serve",), (2, 1)),
        (("serve", "port"), (3, 3)),
        (("serve", "host"), (4, 1)),
        (("run",), (5, 1)),
        (("run", "deep", "a", "b"), (6, 1)),
        (("other",), (1, 1)),
    ],
)
def test_places_in_toml(at: tuple[str, ...], place: tuple[int, int]) -> None:
    """Tables and keys of TOML have their places as well."""
    assert place == read(Path("a.toml"), TOML.encode()).locate(at)
