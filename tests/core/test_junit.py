"""JUnit XML."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from mock_platform.core.junit import JunitCase, write_junit


def test_counts_and_reasons() -> None:
    """Each suite counts its cases, and all suites are counted together."""
    cases = [
        JunitCase("a"),
        JunitCase("b", skipped="later"),
        JunitCase("c", failure="bad", kind="k", details="x"),
    ]

    root = ET.fromstring(write_junit("all", [("one", cases), ("two", [JunitCase("a")])]))

    assert ("all", "4", "1", "1") == tuple(
        root.get(name) for name in ("name", "tests", "skipped", "failures")
    )
    assert [("one", "3", "1", "1"), ("two", "1", "0", "0")] == [
        tuple(suite.get(name) for name in ("name", "tests", "skipped", "failures"))
        for suite in root
    ]
    passed, skipped, failed = root[0]
    assert [] == list(passed)
    assert ("skipped", "later") == (skipped[0].tag, skipped[0].get("message"))
    assert ("failure", "bad", "k", "x") == (
        failed[0].tag, failed[0].get("message"), failed[0].get("type"), failed[0].text,
    )  # fmt: skip


def test_characters_that_xml_does_not_have_are_replaced() -> None:
    """What clients sent may contain any character; the file can be read all the same."""
    text = write_junit(
        "all", [("s\x00", [JunitCase("a\x1b", failure="b\ud800", details="\uffff")])]
    )

    ((case,),) = ET.fromstring(text)

    assert ("a\ufffd", "b\ufffd", "\ufffd") == (
        case.get("name"),
        case[0].get("message"),
        case[0].text,
    )
