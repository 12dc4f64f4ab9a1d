"""The audience estimate: how many people targeting criteria would reach (document B, "Accounts").

The sandbox has no people, so the size is made up: the same criteria and seed lead to the same size;
one more primary criterion never makes it smaller, one more restriction never larger.
"""

from __future__ import annotations

from math import prod
from typing import Any

from marshmallow import EXCLUDE, ValidationError, pre_load

from mock_platform.api.ads.conventions import Data, ads
from mock_platform.api.ads.targeting.criteria import TYPES
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.faults import refuse, unlisted
from mock_platform.core.fields import Choice, Integer, ListOf, Nested, Text
from mock_platform.core.operation import Echo, Example, Location, Operation
from mock_platform.core.schema import Schema
from mock_platform.world.ids import Ids
from mock_platform.world.world import World

AUDIENCE_ESTIMATE_SHAPE = public_fact(
    "audience-estimate.shape",
    "The answer is audience_size with min and max; the spec does not show it. The size is made up "
    "from the world's seed and the criteria.",
    "section 7, audience_estimate",
    gap=True,
)
AUDIENCE_ESTIMATE_ECHO = public_fact(
    "audience-estimate.echo",
    "targeting_criteria is echoed as null.",
    "section 3, echo quirks",
)
AUDIENCE_ESTIMATE_OPERATOR_TYPE = public_fact(
    "audience-estimate.operator-type",
    "operator_type is taken in each criterion, as the public sample has it, and beside "
    "targeting_criteria, as the spec lists it, for the criteria without one.",
    "section 7, audience_estimate",
)
BARE_ARRAY = public_fact(
    "audience-estimate.bare-array",
    "A body that is the array of criteria itself is taken too.",
    "section 7, audience_estimate",
)
PRIMARY_TYPES = settled(
    "audience-estimate.primary",
    "Primary criteria are keywords, interests, followers, tailored or custom audiences and TV, "
    "whichever operator they have.",
)
AUDIENCE_ESTIMATE_TARGETING_TYPES = expectation(
    "audience-estimate.targeting-types",
    "Types of criteria that the interface is not known to have answer 400 INVALID_TARGETING_TYPE.",
)

PRIMARY = (
    "BROAD_KEYWORD", "EXACT_KEYWORD", "PHRASE_KEYWORD", "UNORDERED_KEYWORD", "INTEREST",
    "FOLLOWERS_OF_USER", "SIMILAR_TO_FOLLOWERS_OF_USER", "CUSTOM_AUDIENCE",
    "CUSTOM_AUDIENCE_EXPANDED", "TAILORED_AUDIENCE", "TAILORED_AUDIENCE_EXPANDED", "TV_CHANNEL",
    "TV_GENRE", "TV_SHOW",
)  # fmt: skip
"""Types of which at least one criterion is required: together they build the audience."""
_OLDER = (
    "BEHAVIOR", "BEHAVIOR_EXPANDED", "INSTALLED_APP_STORE_CATEGORY",
    "NETWORK_ACTIVATION_DURATION_GTE", "NETWORK_ACTIVATION_DURATION_LT",
)  # fmt: skip
RESTRICTING = (*(name for name in TYPES if name not in PRIMARY), *_OLDER)
"""The other types, those of criteria and older ones: each keeps a part of the audience."""
OPERATORS = ("EQ", "NE")

_TOTAL_PEOPLE = 350_000_000.0


class TargetingType(Text):
    """The type of a targeting criterion."""

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema: an enumeration of all types."""
        return {"enum": [*PRIMARY, *RESTRICTING]}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        name = super()._deserialize(value, attr, data, **kwargs)
        known = (*PRIMARY, *RESTRICTING)
        if name not in known:
            raise ValidationError([unlisted(known, name, "INVALID_TARGETING_TYPE")])
        return name


class Criterion(Schema):
    """One criterion of the audience to estimate."""

    class Meta:
        """Clients send criteria back as they read them: unknown keys only cause a warning."""

        unknown = EXCLUDE

    targeting_type = TargetingType(required=True)
    targeting_value = Text(required=True, min_length=1)
    operator_type = Choice(OPERATORS)


def _require_primary(criteria: list[dict[str, str]]) -> None:
    if not any(criterion["targeting_type"] in PRIMARY for criterion in criteria):
        raise refuse(
            f"{{name}} needs at least one primary criterion, of the types {', '.join(PRIMARY)}"
        )


class EstimateRequest(Schema):
    """The body: the criteria, and the operator of those without one."""

    targeting_criteria = ListOf(Nested(Criterion), required=True, validate=[_require_primary])
    operator_type = Choice(OPERATORS, load_default="EQ")

    array_body = "targeting_criteria"
    """The key whose value may be the whole body."""

    @pre_load
    def take_array(self, data: Any, **_: Any) -> Any:
        """Accept a body that is the array of criteria itself."""
        return {self.array_body: data} if isinstance(data, list) else data


class AudienceSize(Schema):
    """The range of the audience's size, in people."""

    min = Integer(required=True, low=0)
    max = Integer(required=True, low=0)


class AudienceEstimate(Schema):
    """The estimate, as it is answered."""

    audience_size = Nested(AudienceSize, required=True)


def create(call: Call, world: World) -> dict[str, Any]:
    """Estimate the audience of targeting criteria."""
    if call.body.lstrip()[:1] == b"[":
        call.assume(BARE_ARRAY)
    operator = call.params["operator_type"]
    criteria = {
        (c["targeting_type"], c["targeting_value"].casefold(), c.get("operator_type", operator))
        for c in call.params["targeting_criteria"]
    }
    size = estimate(world.ids, criteria)
    return {"audience_size": {"min": int(size * 0.95), "max": int(size * 1.05)}}


def estimate(ids: Ids, criteria: set[tuple[str, str, str]]) -> float:
    """Return how many people (type, value, operator) criteria reach.

    Primary criteria add up, minus their overlap. Restricting criteria of one type keep the union of
    their parts, those of different types the intersection; `NE` removes its part.
    """
    missed: dict[str, list[float]] = {}
    left = 1.0
    for type_, value, operator in sorted(criteria):  # the order of products shows in the last digit
        chance = ids.fraction("audience", type_, value)
        share = 10 ** (2.4 * chance - 3.5) if type_ in PRIMARY else 0.1 + 0.8 * chance
        if operator == "NE":
            left *= 1 - share
        else:
            missed.setdefault("" if type_ in PRIMARY else type_, []).append(1 - share)
    return _TOTAL_PEOPLE * left * prod(1 - prod(parts) for _, parts in sorted(missed.items()))


OPERATIONS: tuple[Operation, ...] = (
    ads(
        "audience_estimate.create",
        "POST",
        "/12/accounts/:account_id/audience_estimate",
        create,
        summary="Estimate the size of an audience",
        spec="Accounts",
        returns=Data(AudienceEstimate),
        params=EstimateRequest,
        location=Location.JSON,
        echo=Echo(sent=False, constants={"targeting_criteria": None}),
        assumptions=(
            AUDIENCE_ESTIMATE_SHAPE,
            AUDIENCE_ESTIMATE_ECHO,
            AUDIENCE_ESTIMATE_OPERATOR_TYPE,
            PRIMARY_TYPES,
            AUDIENCE_ESTIMATE_TARGETING_TYPES,
        ),
        may_assume=(BARE_ARRAY,),
        errors=("INVALID_TARGETING_TYPE",),
        example=Example(
            json={"targeting_criteria": [{"targeting_type": "INTEREST", "targeting_value": "6001"}]}
        ),
    ),
)
