"""`docs/effects.md`: every effect of scenarios, and the scenarios that are examples of it."""

from __future__ import annotations

from importlib import import_module

from docs.generators.markdown import paragraphs
from mock_platform.platform import Platform
from mock_platform.scenario import effects
from mock_platform.scenario.document import Scenario

_INTRODUCTION = """\
# Effects

Made by `make docs` from the modules of the effects; do not edit.

What a rule of a scenario can do, under `then`: one effect, or a list of them.
[How to write a scenario](for-qa.md#a-scenario-of-your-own).
[The scenario format](scenario-format.md) has the fields of each effect, and an example.
"""
_MAX_NAMED = 5


def write_page() -> str:
    """Returns the page."""
    library = list(Platform().library)
    parts = [_INTRODUCTION]
    for name in effects.EFFECTS:
        module = import_module(f"{effects.__name__}.{name}")
        keyword = module.KIND.keyword
        uses = [each.name for each in library if keyword in _keywords(each)]
        parts.append(f"## `{keyword}`\n\n{paragraphs(module.__doc__)}\n")
        if uses:
            links = ", ".join(f"[`{use}`](scenarios.md#{use})" for use in uses[:_MAX_NAMED])
            more = f" and {len(uses) - _MAX_NAMED} more" if len(uses) > _MAX_NAMED else ""
            parts.append(f"Used by {links}{more}.\n")
    return "\n".join(parts)


def _keywords(scenario: Scenario) -> set[str]:
    """The keys of all effects of a scenario."""
    found: set[str] = set()
    for rule in scenario.document["rules"]:
        then = rule["then"]
        for effect in then if isinstance(then, list) else [then]:
            found |= effect.keys()
    return found
