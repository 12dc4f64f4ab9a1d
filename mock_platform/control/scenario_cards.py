"""A scenario as people choose it: its group, what its effects answer with, and a search."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mock_platform.control.operation_pages import list_outcomes
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Operation
from mock_platform.platform import Platform
from mock_platform.scenario.checking import as_list
from mock_platform.scenario.document import Rule, Scenario
from mock_platform.scenario.effects.disconnect import DisconnectEffect
from mock_platform.scenario.effects.effect import RefusingEffect
from mock_platform.scenario.effects.fault import FaultEffect
from mock_platform.scenario.groups import GROUPS, MAIN, OTHER
from mock_platform.scenario.outcomes import make_call

FAULTS = {
    "reset": "connection lost",
    "empty": "connection closed",
    "truncate": "answer cut off",
    "garbage": "answer is no HTTP",
    "timeout": "no answer",
}
"""What a client sees of each fault of a connection."""
_CHANGES = {
    "delay": "late",
    "patch": "200, changed",
    "items": "some items refused",
    "set": "records change",
    "drop": "lost",
    "duplicate": "comes twice",
    "reorder": "wrong order",
    "fail": "not delivered",
    "split": "in two pieces",
    "insert": "unknown line",
}
"""What effects do that answer with no status of their own."""
_FILLERS = frozenset(
    {"a", "an", "and", "are", "at", "for", "gives", "in", "is", "of", "on", "or", "the", "with"}
)
_ENDINGS = frozenset(("s", "d", "ed", "es", "ing"))
_WORD = re.compile(r"\d[\d,.]*\d|\w+")


class ScenarioCard(Struct, frozen=True):
    """A scenario in a list.

    Example:
        >>> card = ScenarioCard("outage", "All is down.", "network", ("503",), "offline", "")
        >>> card.rate(["offline", "503"]), card.rate(["50"]), card.rate(["down"])
        (0, None, 1)
    """

    name: str
    description: str
    group: str
    outcomes: tuple[str, ...]
    """Status and code, or what else a client sees."""
    words: str
    """Other words by which people look for it."""
    on: str
    """The operations on which it acts."""
    sets: tuple[str, ...] = ()
    """What a click on it sets beside the operations, in words; the others have their defaults."""

    @property
    def place(self) -> tuple[int, int, str]:
        """Its place in a list: the main ones, then group by group."""
        main = MAIN.index(self.name) if self.name in MAIN else len(MAIN)
        return main, [*GROUPS].index(self.group), self.name

    def rate(self, wanted: Sequence[str]) -> int | None:
        """Return how far it is from the words that are searched for; `None` if one is not in it."""
        near = split_words(f"{self.name} {self.words} {' '.join(self.outcomes)}")
        far = split_words(f"{self.description} {self.on}")
        distance = 0
        for word in wanted:
            if not any(_fits(word, each) for each in near):
                if not any(_fits(word, each) for each in far):
                    return None
                distance += 1
        return distance


def split_words(text: str) -> list[str]:
    """Return the words of a text without those that mean nothing in a search.

    Example:
        >>> split_words("The second delete is 404, of 2,500")
        ['second', 'delete', '404', '2,500']
    """
    return [word for word in _WORD.findall(text.lower().replace("_", " ")) if word not in _FILLERS]


def _fits(wanted: str, word: str) -> bool:
    """Return whether a word is the wanted one, another form of it, or begins so; no number does."""
    if wanted[0].isdigit():
        return wanted == word
    return word.startswith(wanted) or (wanted.startswith(word) and wanted[len(word) :] in _ENDINGS)


def search_cards(cards: Iterable[ScenarioCard], text: str) -> list[ScenarioCard]:
    """Return the cards that have all words of a text, the nearest first."""
    wanted = split_words(text)
    rated = [(card.rate(wanted), card) for card in cards]
    found = [(distance, card) for distance, card in rated if distance is not None]
    return [card for _, card in sorted(found, key=lambda each: (each[0], each[1].place))]


def make_cards(
    platform: Platform, scenarios: Iterable[Scenario], *, by_click: bool = False
) -> list[ScenarioCard]:
    """Return the cards of scenarios, the main ones first, then group by group.

    They tell what happens with the defaults, or, `by_click`, with what the console sets.
    """
    operations = {operation.id: operation for operation in platform.operations}
    cards = []
    for scenario in scenarios:
        sets = scenario.card if by_click else {}
        rules = scenario.bind(sets) if sets else platform.library.bind_defaults(scenario)
        document = scenario.document
        # The main rule is the one that is expected to act.
        rule = next((rule for rule in rules if rule.expected), rules[0])
        everywhere = any(rule.everywhere for rule in rules)
        named = "every operation" if everywhere else ", ".join(rule.on[:3])
        cards.append(
            ScenarioCard(
                name=scenario.name,
                description=scenario.description,
                group=document.get("group", OTHER),
                outcomes=tuple(dict.fromkeys(_list_outcomes(scenario, rules, operations)))[:3],
                words=document.get("words", ""),
                on=named + ("" if everywhere or len(rule.on) < 4 else ", …"),
                sets=tuple(_word(*each) for each in sets.items() if each[0] != "on"),
            )
        )
    return sorted(cards, key=lambda card: card.place)


def _word(parameter: str, value: Any) -> str:
    """Return what a parameter is set to.

    Example:
        >>> _word("call", {"from": 2}), _word("window", 60)
        ('from call 2 on', 'window 60')
    """
    if parameter == "call" and isinstance(value, Mapping) and [*value] == ["from"]:
        return f"from call {value['from']} on"
    return f"{parameter} {value if isinstance(value, str) else dumps(value).decode()}"


def _list_outcomes(
    scenario: Scenario, rules: Sequence[Rule], operations: Mapping[str, Operation]
) -> Iterator[str]:
    # What refuses every operation is shown as the advertising interface words it: with its code.
    anywhere = next(each for each in operations.values() if each.path.startswith("/12/"))
    for raw, rule in zip(scenario.document["rules"], rules, strict=True):
        named = () if rule.everywhere else rule.on
        operation = next((operations[name] for name in named if name in operations), anywhere)
        effects = as_list(raw["then"])
        for effect in () if any("items" in each for each in effects) else rule.effects:
            if isinstance(effect, RefusingEffect):
                for status, code in list_outcomes(effect, make_call(operation)):
                    yield f"{status} {code}".strip()
            elif isinstance(effect, FaultEffect):
                yield FAULTS[effect.fault]
            elif isinstance(effect, DisconnectEffect):
                yield "stream ends" if effect.fault is None else f"stream: {FAULTS[effect.fault]}"
        for named in effects:
            yield from (text for keyword, text in _CHANGES.items() if keyword in named)
