"""What clients know of scenarios without loading them: their names, and rules that never acted."""

from __future__ import annotations

from msgspec import Struct

SCENARIO_NAME = r"[a-z0-9][a-z0-9._-]{0,99}"
"""Pattern of a scenario's name."""
FAILURE_ID = r"[a-z0-9_]{1,50}(?:\.[a-z0-9_]{1,50}){1,4}-[A-Za-z0-9._-]{1,100}"
"""Pattern of the id of an operation's failure, which is the name of a scenario as well."""
ANY_NAME = f"(?:{SCENARIO_NAME}|{FAILURE_ID})"
"""Pattern of both."""
SUFFIXES = (".yaml", ".yml", ".json")
"""The ends of the names of scenario files."""


def is_file(text: str) -> bool:
    """Return whether a start-up argument is a path rather than a scenario's name."""
    return text.endswith(SUFFIXES) or "/" in text or "\\" in text


class UnfiredRule(Struct, frozen=True):
    """A rule with `expect: fired` that did not act.

    `matched` calls fulfilled its conditions; `refused` ones failed before it could act.
    """

    scenario: str
    rule: int
    matched: int
    refused: int = 0
    acts_on: str = ""
    """On which of its calls it acts; empty if on each of them."""
    hidden_by: str = ""
    """The rule of another scenario that leaves it no request, as `NAME/NUMBER`; empty if none."""

    def __str__(self) -> str:
        calls = f"{self.matched} call{'' if self.matched == 1 else 's'} matched it"
        if self.acts_on:
            calls += f", and it acts on {self.acts_on}"
        calls += describe_hiding(self.hidden_by)
        return (
            f"Scenario {self.scenario}, rule {self.rule}, was expected to act but never did; "
            f"{calls}{describe_refusals(self.refused)}."
        )


def describe_hiding(hidden_by: str | None) -> str:
    """Describe which rule leaves another one no request; empty without one."""
    return f"; rule {hidden_by} acts on all of its requests before it" if hidden_by else ""


def describe_refusals(refused: int) -> str:
    """Describe how many requests were refused before a rule could act on them; empty for 0."""
    if not refused:
        return ""
    were = "request was" if refused == 1 else "requests were"
    return (
        f"; {refused} {were} refused before it could act: without `stage: before_auth` a rule acts "
        "only on requests that nothing else refuses"
    )
