"""What an effect is: a declared form, and one of four things that it can do with a request.

A change alters the world before the request is answered. A gate lets the request pass to what
answers it, or refuses it. An answer replaces the handler. A treatment alters the reply, wherever
it came from. A rule has any number of changes and treatments and at most one gate and one
answer; each kind acts in the order in which the rule lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from mock_platform.core.call import Call, Reply
from mock_platform.core.documents.forms import DurationForm, FaultReport, FieldsForm
from mock_platform.core.documents.source import Path
from mock_platform.core.failures.errors import Failure
from mock_platform.core.tables.table import Tables
from mock_platform.world.clock import DURATION_EXAMPLES
from mock_platform.world.world import World

MAX_DELAY_SECONDS = 300.0
DELAY = DurationForm(0, MAX_DELAY_SECONDS)
DELAY_WORDS = f"seconds, a duration ({DURATION_EXAMPLES})"


class Staging(Struct, frozen=True):
    """One firing of a rule: what its effects see and may use."""

    call: Call
    world: World
    tables: Tables
    rule: tuple[str, int]
    """Name of the scenario and index of the rule."""
    number: int
    """Which matching call this is, from 1."""
    set_state: Callable[[str], None]
    alone: bool = False
    """Whether the rule is for this request alone, and so has no earlier ones."""


@runtime_checkable
class ChangeEffect(Protocol):
    """Alters the world, in the request's transaction."""

    def change(self, staging: Staging) -> None:
        """Change the world; the change stays even if the request fails."""


@runtime_checkable
class GateEffect(Protocol):
    """Decides whether a request is answered at all."""

    def admit(self, staging: Staging, proceed: Callable[[], Reply]) -> Reply:
        """Return the reply of `proceed` (the rule's answer or the handler), or raise a refusal."""


@runtime_checkable
class AnswerEffect(Protocol):
    """Answers instead of the handler."""

    def answer(self, staging: Staging, proceed: Callable[[], Reply]) -> Reply:
        """Return the reply, or raise a failure; `proceed` runs the handler."""


@runtime_checkable
class TreatmentEffect(Protocol):
    """Alters a reply, or how it is sent."""

    def treat(self, staging: Staging, reply: Reply) -> Reply:
        """Return the reply to send."""


@runtime_checkable
class RefusingEffect(Protocol):
    """Refuses requests in a way that is known before one comes."""

    def foresee(self, call: Call) -> Failure | Reply:
        """Return what a call like this one gets."""


Effect = ChangeEffect | GateEffect | AnswerEffect | TreatmentEffect


class EffectKind(Struct, frozen=True):
    """One kind of effect as it is declared: its keyword, its form, how a value becomes an effect.

    `by_value` holds a form for each value of the keyword, where it decides which fields may follow.
    """

    keyword: str
    make: Callable[[Mapping[str, Any]], Effect]
    form: FieldsForm | None = None
    by_value: Mapping[str, FieldsForm] | None = None
    answers: bool = False
    """Whether it replaces the handler."""
    changes_answer: bool = False
    """Whether it needs the true answer to alter."""
    cross_check: Callable[[Mapping[str, Any], Path, FaultReport], None] | None = None
    """Reports violations that its form cannot find, at or below the place of its keyword."""
    acts_on: Literal["any", "operation", "collection"] = "any"
    """Whether it needs an operation, or a path without a method that no operation serves."""
    needs_connection: bool = False
    """Whether the server must be able to break connections."""
