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


HOW_TO = "How-to guides"
KINDS = (
    Kind(
        "Getting started",
        "A first lesson of a few minutes, for each kind of user.",
        (
            "README",
            "docs/for-test-authors",
            "docs/for-javascript",
            "docs/for-qa",
            "docs/as-a-flask-application",
            "docs/any-language",
        ),
    ),
    Kind(
        HOW_TO,
        "One task each.",
        (
            "docs/test-recipes",
            "docs/console",
            "docs/clients",
            "docs/original-names",
            "docs/older-interface",
            "docs/wire",
            "docs/record-and-import",
            "docs/oauth2",
            "docs/posts-and-users",
            "docs/media-news-and-notes",
            "docs/likes-bookmarks-and-spaces",
            "docs/encrypted-chat",
            "docs/lists-and-trends",
            "docs/filtered-stream",
            "docs/streams",
            "docs/compliance",
            "docs/account-activity",
            "docs/ad-accounts",
            "docs/costs",
            "docs/examples/README",
        ),
    ),
    Kind(
        "Reference",
        "Everything there is, complete and dry.",
        (
            "docs/command-line",
            "docs/control-plane",
            "docs/scenario-format",
            "docs/scenarios",
            "docs/effects",
            "docs/fixtures",
            "docs/tables",
            "docs/python",
            "docs/javascript",
            "docs/operations",
            "docs/assumptions",
        ),
    ),
    Kind(
        "Explanation",
        "Why it is as it is, and what to expect of it.",
        (
            "docs/fidelity",
            "docs/architecture",
            "docs/security-model",
            "docs/performance",
            "docs/scaling",
            "docs/glossary",
        ),
    ),
    Kind(
        "Versions",
        "What you can rely on, what changed, and how to move on.",
        ("docs/upgrading", "docs/stability", "CHANGELOG", "SECURITY"),
    ),
    Kind(
        "Changing it",
        "For those who work on the sandbox itself.",
        (
            "CONTRIBUTING",
            "docs/adding-an-operation",
            "docs/adding-an-effect",
            "docs/adding-an-option",
            "docs/adding-a-command",
            "docs/adding-a-control-route",
            "docs/adding-a-store",
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
