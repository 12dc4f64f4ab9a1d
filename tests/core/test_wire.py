"""Names and wire of a request: its header, then its world, then the host that it calls."""

from __future__ import annotations

import pytest

from mock_platform.core.call import Call
from mock_platform.core.wire import choose_form
from mock_platform.settings import NamesMode, WireMode

REAL = "https://api.x.com"
OURS = "http://127.0.0.1:8080"


def make_call(base_url: str, **headers: str) -> Call:
    """Returns a call of an address with headers."""
    sent = [(f"X-Mock-{name}", value) for name, value in headers.items()]
    return Call("GET", f"{base_url}/2/tweets", "/2/tweets", base_url, sent)


@pytest.mark.parametrize(
    ("base_url", "world", "asked", "expected"),
    [
        (OURS, None, {}, "spec"),
        (REAL, None, {}, "recorded"),
        (REAL + ":443", None, {}, "recorded"),
        ("https://api.x.com.example", None, {}, "spec"),
        (REAL, "spec", {}, "spec"),
        (OURS, "recorded", {}, "recorded"),
        (OURS, "recorded", {"Wire": "spec"}, "spec"),
        (OURS, None, {"Wire": "other"}, "spec"),
    ],
)
def test_wire(
    base_url: str, world: WireMode | None, asked: dict[str, str], expected: WireMode
) -> None:
    """The nearest choice wins; without one the platform's own hosts have the recorded wire."""
    assert choose_form(make_call(base_url, **asked), None, world)[1] == expected


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
        ("unknown-wire", "X-Mock-Wire is one of spec, recorded, recorded-2023; 'other' was ignored")
    ]
