"""The order of tags in descriptions: that of the specification's sections."""

from __future__ import annotations

from collections.abc import Iterable

from mock_platform.core.operation import Operation, Origin

_SECTIONS = (
    "A, Endpoints: POST {base_url}/2/webhooks/replay",
    "A, Endpoints: POST {base_url}/oauth/",
    "A, Endpoints: POST {base_url}/oauth2/",
    "A, ",
    "Not shown",
    "B, Product catalogs (early access only)",
    "B, Product catalogs: product sets",
    "B, Keyword insights",
    "B, Tailored audience permissions",
    "B, Custom audiences",
    "B, Do-not-reach lists",
    "B, Account media",
    "B, Cards",
    "B, Media library",
    "B, Poll cards",
    "B, Video conversation cards",
    "B, Posting on behalf of an advertiser",
    "B, Accounts",
    "B, Line items",
    "B, Line item curated categories",
    "B, ",
)
"""How `spec` of an operation begins, in the order of the documents; the rest of each comes last."""
_OWN = frozenset({Origin.DOCUMENT_A, Origin.DOCUMENT_B})


def sort_tags(operations: Iterable[Operation]) -> list[str]:
    """Returns the families of operations, in the order in which the documents describe them.

    A family is where its documented operations are. Families of one section are in the order of
    the operations.
    """
    families: dict[str, list[Operation]] = {}
    for operation in operations:
        families.setdefault(tag_of(operation), []).append(operation)
    return sorted(families, key=lambda name: _rank(families[name]))


def tag_of(operation: Operation) -> str:
    """Returns the family of an operation: the beginning of its id."""
    return operation.id.partition(".")[0]


def _rank(family: list[Operation]) -> int:
    documented = [operation for operation in family if operation.origin in _OWN]
    return min(_find_section(operation.spec) for operation in documented or family)


def _find_section(spec: str) -> int:
    found = (index for index, begin in enumerate(_SECTIONS) if spec.startswith(begin))
    return max(found, key=lambda index: len(_SECTIONS[index]), default=len(_SECTIONS))
