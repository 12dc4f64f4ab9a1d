"""Names and wire of a request: its header, then its world, then the host that it calls."""

from __future__ import annotations

import pytest

from mock_platform.core.call import Call
from mock_platform.core.wire import choose_form
from mock_platform.core.wire_choice import read_wire
from mock_platform.settings import NamesMode

REAL = "https://api.x.com"
OURS = "http://127.0.0.1:8080"


def make_call(base_url: str, **headers: str) -> Call:
    """Returns a call of an address with headers."""
    sent = [(f"X-Mock-{name}", value) for name, value in headers.items()]
    return Call("GET", f"{base_url}/2/tweets", "/2/tweets", base_url, sent)


@pytest.mark.parametrize(("base_url", "world", "asked", "expected"), [
    (OURS, None, {}, "spec"),
    (REAL, None, {}, "recorded"),
    (REAL + ":443", None, {}, "recorded"),
    ("https://api.x.com.example", None, {}, "spec"),
    (REAL, "spec", {}, "spec"),
    (OURS, "recorded", {}, "recorded"),
    (OURS, "recorded", {"Wire": "spec"}, "spec"),
    (OURS, None, {"Wire": "other"}, "spec"),
    (OURS, "recorded", {"Wire": "spec,limit=problem"}, "spec,limit=problem"),
    (OURS, "recorded,missing=200", {}, "recorded-2023"),
])  # fmt: skip
def test_wire(base_url: str, world: str | None, asked: dict[str, str], expected: str) -> None:
    """The nearest choice wins; without one the platform's own hosts have the recorded wire."""
    assert choose_form(make_call(base_url, **asked), None, world)[1].name == expected


@pytest.mark.parametrize(
    ("base_url", "world", "expected"),
    [(OURS, None, "neutral"), (REAL, None, "original"), (REAL, "neutral", "neutral")],
)
def test_names(base_url: str, world: NamesMode | None, expected: NamesMode) -> None:
    """Programs that call the platform's own hosts know the original names alone."""
    assert choose_form(make_call(base_url), world, None)[0] == expected


def test_an_unknown_wire_is_a_warning() -> None:
    """A header with another value is ignored, and the journal says so."""
    call = make_call(OURS, Wire="other")
    choose_form(call, None, None)

    assert call.coded_warnings == [
        (
            "unknown-wire",
            "X-Mock-Wire was ignored: a wire is spec, recorded or recorded-2023, and behind it "
            "what is in doubt, as in recorded,missing=200; not 'other'.",
        )
    ]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("Scenarios", " (did you mean X-Mock-Scenario?)"), ("Word", " (did you mean X-Mock-World?)")],
)
def test_a_header_that_looks_like_ours_is_a_warning(name: str, hint: str) -> None:
    """The warning says what may be meant; headers that are read have none."""
    call = make_call(OURS, World="w1", Scenario="outage", **{name: "x"})
    choose_form(call, None, None)

    text = f"no header 'x-mock-{name.lower()}' is read{hint}; it was ignored"
    assert call.coded_warnings == [("unknown-header", text)]


@pytest.mark.parametrize(("text", "name"), [
    ("recorded", "recorded"),
    ("recorded, rules=200 , unknown=ignored", "recorded,rules=200,unknown=ignored"),
    ("recorded,rules=201", "recorded"),
    ("recorded-2023,missing=404", "recorded"),
    ("spec,problems=json", "spec,problems=json"),
    ("spec,rules=201,rules=201", "spec,rules=201"),
])  # fmt: skip
def test_what_is_in_doubt_is_chosen_by_itself(text: str, name: str) -> None:
    """A wire is named after what differs from the usual one of its form; names read back alike."""
    wire = read_wire(text)

    assert name == wire.name
    assert wire == read_wire(name)


@pytest.mark.parametrize(("text", "fault"), [
    ("recoded", "a wire is spec, .* not 'recoded'. Did you mean 'recorded'[?]"),
    ("", "not ''"),
    ("rules=201", "not 'rules=201'"),
    ("spec,mising=200", "no 'mising', but rules, missing, .*. Did you mean 'missing'[?]"),
    ("spec,limit=problems", "limit is code or problem, not 'problems'. Did you mean 'problem'"),
    ("spec,rules=200,rules=201", "rules is both 200 and 201"),
    ("spec,", "no ''"),
])  # fmt: skip
def test_what_is_no_wire(text: str, fault: str) -> None:
    """The message names what is wrong, what is allowed, and what was probably meant."""
    with pytest.raises(ValueError, match=fault):
        read_wire(text)
