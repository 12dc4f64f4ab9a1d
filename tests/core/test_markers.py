"""The marker headers: each is there only if there is something to report."""

from __future__ import annotations

from mock_platform.core.call import Call
from mock_platform.core.journal_entries import make_markers


def make_call() -> Call:
    """Returns a call with the id r1."""
    call = Call("GET", "http://host/2/posts", "/2/posts", "http://host", [])
    call.request_id = "r1"
    return call


def test_a_request_without_an_operation_has_an_id_only() -> None:
    """Markers of things that did not happen are left out."""
    assert [("X-Mock-Request-Id", "r1")] == make_markers(make_call(), [])


def test_everything_that_shaped_an_answer_is_named() -> None:
    """Operation, rule, sorted warnings and the assumptions each have a header."""
    call = make_call()
    call.operation, call.rule = "posts.get", {"scenario": "outage", "rule": 2, "call": 1}
    call.coded_warnings = [("b", "1"), ("a", "2"), ("b", "3")]

    expected = [
        ("X-Mock-Request-Id", "r1"),
        ("X-Mock-Operation", "posts.get"),
        ("X-Mock-Rule", "outage/2"),
        ("X-Mock-Warnings", "a,b"),
        ("X-Mock-Assumptions", "A-1,A-2"),
    ]
    assert expected == make_markers(call, ["A-1", "A-2"])


def test_an_added_route_is_named_in_place_of_an_operation() -> None:
    """`X-Mock-Custom` is the endpoint of the route."""
    call = make_call()
    call.custom = "unserved"

    assert ("X-Mock-Custom", "unserved") in make_markers(call, [])
