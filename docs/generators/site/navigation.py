"""The order of the site: which pages are of which kind. A page named nowhere is a how-to guide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of page, with the sentence that says what it is for, and its pages in order."""

    title: str
    purpose: str
    pages: tuple[str, ...]


HOW_TO = "Do"
KINDS = (
    Kind(
        "Learn",
        "A first lesson of a few minutes, for each kind of reader.",
        (
            "README",
            "docs/README",
            "docs/tour",
            "docs/for-test-authors",
            "docs/for-javascript",
            "docs/node-clients",
            "docs/for-qa",
            "docs/click-lesson",
            "docs/any-language",
            "docs/SKILL",
        ),
    ),
    Kind(
        HOW_TO,
        "One task each.",
        (
            "docs/install",
            "docs/problems",
            "docs/fit",
            "docs/test-recipes",
            "docs/failures-in-turn",
            "docs/types-and-async",
            "docs/console",
            "docs/clients",
            "docs/programs",
            "docs/older-interface",
            "docs/wire",
            "docs/as-of",
            "docs/record-and-import",
            "docs/compare",
            "docs/contract",
            "docs/as-a-flask-application",
            "docs/scaling",
            "docs/oauth2",
            "docs/users",
            "docs/media-news-and-notes",
            "docs/encrypted-chat",
            "docs/streams",
            "docs/compliance",
            "docs/account-activity",
            "docs/ad-accounts",
            "docs/make-records",
            "docs/cases",
            "docs/costs",
            "docs/agents",
            "docs/examples/README",
        ),
    ),
    Kind(
        "Look up",
        "Everything there is, complete and dry.",
        (
            "docs/glossary",
            "docs/command-line",
            "docs/control-plane",
            "docs/scenarios",
            "docs/scenario-format",
            "docs/tables",
            "docs/python",
            "docs/javascript",
            "docs/operations",
            "docs/assumptions",
            "CHANGELOG",
        ),
    ),
    Kind(
        "Understand",
        "Why it is as it is, and what to expect of it.",
        (
            "docs/how-it-works",
            "docs/fidelity",
            "docs/architecture",
            "SECURITY",
            "docs/stability",
        ),
    ),
    Kind(
        "Work on it",
        "For those who change the sandbox itself.",
        (
            "CONTRIBUTING",
            "docs/contributing/adding-an-operation",
            "docs/contributing/adding-an-effect",
            "docs/contributing/adding-an-option",
            "docs/contributing/adding-a-command",
            "docs/contributing/adding-a-control-route",
            "docs/contributing/adding-a-console-page",
            "docs/contributing/adding-a-store",
        ),
    ),
)


def arrange(names: Iterable[str]) -> Mapping[str, list[str]]:
    """Returns the names of all pages by the title of their kind, in the order of the site."""
    found = sorted(names)
    named = {page for kind in KINDS for page in kind.pages}
    others = [name for name in found if name not in named]
    return {
        kind.title: [page for page in kind.pages if page in found]
        + (others if kind.title == HOW_TO else [])
        for kind in KINDS
    }
