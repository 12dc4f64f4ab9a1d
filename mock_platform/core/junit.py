"""JUnit XML, which CI systems read: suites of cases that passed, were skipped or failed."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # XML 1.0, Char


class JunitCase(Struct, frozen=True):
    """A case; it passed unless it has a reason why it was skipped or failed."""

    name: str
    skipped: str | None = None
    failure: str | None = None
    kind: str = ""
    """The type of the failure."""
    details: str = ""


def write_junit(
    name: str,
    suites: Iterable[tuple[str, Sequence[JunitCase]]],
    properties: Mapping[str, str] | None = None,
) -> str:
    """Return the XML of these suites, each with its name; the first one has the properties."""
    root = ET.Element("testsuites", name=name)
    for suite_name, cases in suites:
        _add_suite(root, suite_name, cases)
    first = root.find("testsuite")
    if properties and first is not None:
        listed = ET.Element("properties")
        for key, value in properties.items():
            ET.SubElement(listed, "property", name=key, value=value)
        first.insert(0, listed)
    for count in ("tests", "skipped", "failures"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add_suite(root: ET.Element, name: str, cases: Sequence[JunitCase]) -> None:
    suite = ET.SubElement(
        root,
        "testsuite",
        name=_clean(name),
        tests=str(len(cases)),
        skipped=str(sum(case.skipped is not None for case in cases)),
        failures=str(sum(case.failure is not None for case in cases)),
        errors="0",
    )
    for case in cases:
        element = ET.SubElement(
            suite, "testcase", classname=_clean(name), name=_clean(case.name), time="0"
        )
        if case.failure is not None:
            failure = ET.SubElement(
                element, "failure", message=_clean(case.failure), type=_clean(case.kind)
            )
            failure.text = _clean(case.details) or None
        elif case.skipped is not None:
            ET.SubElement(element, "skipped", message=_clean(case.skipped))


def _clean(text: str) -> str:
    """Return a text without characters that XML does not have."""
    return _NOT_XML.sub("\ufffd", text)
