"""Targeting criteria: which ones a line item may have, and how one is made.

The single creation, the batch and the setting of an app of a line item make criteria here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from marshmallow import ValidationError
from msgspec import Struct

from mock_platform.api.ads.accounts.users_and_apps import FULL, find_promotable_type
from mock_platform.api.ads.audiences.permissions import may_target, read_audience
from mock_platform.api.ads.campaigns.line_item_parts import add_part
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError
from mock_platform.core.faults import INVALID, unlisted
from mock_platform.core.fields import Text
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

TABLE = "targeting_criteria"
CATEGORY = "IAB_CATEGORY"
ENTITY = "TARGETING_CRITERIA"
KEYWORDS = ("BROAD_KEYWORD", "EXACT_KEYWORD", "PHRASE_KEYWORD", "UNORDERED_KEYWORD")
AUDIENCES = ("CUSTOM_AUDIENCE", "CUSTOM_AUDIENCE_EXPANDED")
TYPES = (
    "AGE", "APP_LIST", "APP_STORE_CATEGORY", "APP_STORE_CATEGORY_LOOKALIKE", *KEYWORDS,
    "CAMPAIGN_ENGAGEMENT", "CAMPAIGN_ENGAGEMENT_LOOKALIKE", "CONTENT_PUBLISHER_USER",
    "CONVERSATION", *AUDIENCES, "DEVICE", "ENGAGEMENT_TYPE", "EVENT", "FOLLOWERS_OF_USER", "GENDER",
    CATEGORY, "INTEREST", "LANGUAGE", "LIVE_TV_EVENT", "LOCATION", "NETWORK_ACTIVATION_DURATION",
    "NETWORK_OPERATOR", "PLATFORM", "PLATFORM_VERSION", "SIMILAR_TO_FOLLOWERS_OF_USER", "TV_SHOW",
    "USER_ENGAGEMENT", "USER_ENGAGEMENT_LOOKALIKE", "WIFI_ONLY",
)  # fmt: skip
_VALUES: Mapping[str, tuple[str, ...]] = {
    "ENGAGEMENT_TYPE": (
        "IMPRESSION",
        "ENGAGEMENT",
        "VIDEO_VIEW",
        "VIDEO_VIEW_PARTIAL",
        "VIDEO_VIEW_COMPLETE",
    ),
    "GENDER": ("1", "2"),
    "PLATFORM": ("0", "1", "2", "3", "4"),
}
"""The values of those types whose values are all known."""
_GENDERS = {"1": "Male", "2": "Female"}
_AGE = re.compile(r"AGE_(?:[0-9]{2}_TO_[0-9]{2}|OVER_[0-9]{2})", re.ASCII)
_OPERATORS = {
    "APP_LIST": ("NE",),
    "CONTENT_PUBLISHER_USER": ("NE",),
    "NETWORK_ACTIVATION_DURATION": ("GTE", "LT"),
}
"""The operators of those types that do not have all of them."""
MOST: Mapping[tuple[str, ...], int] = {
    ("AGE",): 1,
    ("EVENT",): 1,
    ("INTEREST",): 100,
    ("SIMILAR_TO_FOLLOWERS_OF_USER",): 100,
    KEYWORDS: 1000,
    ("LOCATION",): 2000,
}
"""How many criteria of some types a line item may have together."""
_ENGAGED = ("CAMPAIGN_ENGAGEMENT", "USER_ENGAGEMENT")
_OPTION_TYPES = {"APP_STORE_CATEGORY_LOOKALIKE": "APP_STORE_CATEGORY"}
_SINGULAR = {
    "COUNTRIES": "COUNTRY",
    "REGIONS": "REGION",
    "METROS": "METRO",
    "CITIES": "CITY",
    "POSTAL_CODES": "POSTAL_CODE",
}
LANGUAGE = r"[a-z]{2}"
LANGUAGE_TEXT = "an ISO 639-1 code such as en"
"""The form of the parameter `lang`."""

TARGETING_CRITERIA_LIMITS = public_fact(
    "targeting-criteria.limits",
    "A line item has at most 1 age bucket, 1 event, 100 interests, 100 similar users, 1,000 "
    "keywords and 2,000 locations. A breach of this or another rule of targeting answers 400 "
    "INVALID_PARAMETER.",
    "adjacent operations, section 6",
)
TARGETING_CRITERIA_VALUES = expectation(
    "targeting-criteria.values",
    "Values of AGE, GENDER, PLATFORM and ENGAGEMENT_TYPE are checked, audiences, campaigns and "
    "users must be usable by the account. Any other value is taken, also one that the lookups of "
    "the sandbox do not list; then the value is its name.",
)
TARGETING_CRITERIA_TV_SHOWS = public_fact(
    "targeting-criteria.tv-shows",
    "A TV show needs a location on the line item first (400 INVALID_TV_SHOW_LOCATIONS), and all "
    "locations in a country of the show (400 TV_SHOW_OUTSIDE_MARKET).",
    "adjacent operations, section 6",
)
CATEGORY_SETS = public_fact(
    "targeting-criteria.content-categories",
    "IAB_CATEGORY criteria come as the whole set of IAB categories of a content category, together "
    "in one batch; else 400 INVALID_PARAMETER, and 404 INVALID_IAB_CATEGORY for a category that "
    "belongs to none.",
    "adjacent operations, section 6",
)


class Target(Struct, frozen=True):
    """A targeting criterion as it was requested."""

    type: str
    value: str
    operator: str


class CriterionType(Text):
    """A targeting type of a criterion."""

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema: an enumeration of all types."""
        return {"enum": list(TYPES)}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        name = super()._deserialize(value, attr, data, **kwargs)
        if name not in TYPES:
            raise ValidationError([unlisted(TYPES, name, "INVALID_TARGETING_TYPE")])
        return name


# -- rules --------------------------------------------------------------------------------------


def find_errors(call: Call, world: World, line_item: Record, target: Target) -> list[AdsError]:
    """Return why a line item may not have a criterion; empty if it may."""
    # The form first, and the check of the type only if that is right: it looks the value up, and a
    # value of another form cannot be there.
    found = [*_check_form(target), *_check_number(world, line_item, target)]
    check = _CHECKS.get(target.type)
    if check is not None and not found:
        found = list(check(call, world, line_item, target))
    if any(error.code == "INVALID_PARAMETER" for error in found):
        call.assume(TARGETING_CRITERIA_LIMITS, TARGETING_CRITERIA_VALUES)
    return found


def _check_form(target: Target) -> Iterator[AdsError]:
    operators = _OPERATORS.get(target.type)
    if operators is not None and target.operator not in operators:
        fault = unlisted(operators, target.operator).naming("operator_type")
        hint = f"{target.type} goes with {' or '.join(operators)}"
        yield AdsError(INVALID, str(fault), "operator_type", hint=hint)
    values = _VALUES.get(target.type)
    if values is not None and target.value not in values:
        fault = unlisted(values, target.value).naming("targeting_value")
        yield AdsError(INVALID, str(fault), "targeting_value", hint=fault.hint)
    if target.type == "AGE" and _AGE.fullmatch(target.value) is None:
        yield _invalid(
            f'Expected an age bucket such as AGE_25_TO_49, got "{target.value}" for targeting_value'
        )


def _check_number(world: World, line_item: Record, target: Target) -> Iterator[AdsError]:
    for types, most in MOST.items():
        if target.type in types and count_criteria(world, line_item["id"], types) >= most:
            names = " and ".join(types) if len(types) < 3 else "keyword"
            text = f"A maximum of {most} {names} criteria may be provided for a line item"
            yield AdsError(INVALID, text, "targeting_type")


def count_criteria(world: World, line_item_id: str, types: tuple[str, ...]) -> int:
    """Return how many criteria of these types a line item has."""
    match = {"line_item_id": line_item_id, "deleted": False}
    return sum(world.store.count(TABLE, match | {"targeting_type": name}) for name in types)


def find_category_error(
    world: World, line_item_id: str, category: str, together: Collection[str]
) -> AdsError | None:
    """Return why a line item may not target an IAB category, if it may not.

    `together` are the IAB categories that the same request adds to the line item.
    """
    match = {"line_item_id": line_item_id, "targeting_type": CATEGORY, "deleted": False}
    own = {entry.record["targeting_value"] for entry in world.store.page(TABLE, match)}
    sets = [
        entry.record["iab_categories"]
        for entry in world.store.page("content_categories")
        if category in entry.record["iab_categories"]
    ]
    if not sets:
        text = f"{category!r} is no IAB category of a content category"
        return AdsError("INVALID_IAB_CATEGORY", text, "targeting_value")
    if any(own.union(together).issuperset(names) for names in sets):
        return None
    return _invalid(
        f"{category} must come with all IAB categories of its content category, in one batch: "
        + " or ".join(", ".join(names) for names in sets)
    )


_Check = Callable[[Call, World, Record, Target], Iterator[AdsError]]


def _check_audience(
    call: Call, world: World, line_item: Record, target: Target
) -> Iterator[AdsError]:
    audience = read_audience(world, target.value)
    account_id = call.path_params["account_id"]
    if audience is None or audience["deleted"] or not may_target(world, audience, account_id):
        text = f"No audience has the id {target.value!r}"
        yield AdsError("NOT_FOUND", text, "targeting_value")
    elif not audience["targetable"]:
        reasons = ", ".join(audience["reasons_not_targetable"])
        yield _invalid(f"Audience {target.value} is not targetable: {reasons}")


def _check_campaign(
    call: Call, world: World, line_item: Record, target: Target
) -> Iterator[AdsError]:
    campaign = world.store.get("campaigns", target.value) or {}
    if campaign.get("_account_id") != call.path_params["account_id"]:
        text = f"No campaign has the id {target.value!r}"
        yield AdsError("CAMPAIGN_NOT_FOUND", text, "targeting_value")


def _check_own_user(
    call: Call, world: World, line_item: Record, target: Target
) -> Iterator[AdsError]:
    account_id = call.path_params["account_id"]
    if find_promotable_type(world, account_id, target.value) != FULL:
        yield _invalid(f"User {target.value} is not the FULL promotable user of the account")


def _check_engagement(
    call: Call, world: World, line_item: Record, target: Target
) -> Iterator[AdsError]:
    if not count_criteria(world, line_item["id"], _ENGAGED):
        text = f"ENGAGEMENT_TYPE needs a criterion of the type {' or '.join(_ENGAGED)} first"
        yield AdsError(INVALID, text, "targeting_type")


def _check_show(call: Call, world: World, line_item: Record, target: Target) -> Iterator[AdsError]:
    match = {"line_item_id": line_item["id"], "targeting_type": "LOCATION", "deleted": False}
    criteria = [entry.record for entry in world.store.page(TABLE, match)]
    places = [record for record in criteria if record["operator_type"] == "EQ"]
    if not places:
        text = f"Line item {line_item['id']} needs a LOCATION criterion before a TV show"
        yield AdsError("INVALID_TV_SHOW_LOCATIONS", text, "targeting_value")
        return
    show = find_option(world, "TV_SHOW", target.value)
    if show is None:
        return  # of a show that is not listed, the market is not known
    countries = {locale["country"] for locale in show.get("locales", ())}
    outside = [place["name"] for place in places if place.get("_country_code") not in countries]
    if outside:
        text = f"TV show {target.value} is not broadcast in {', '.join(map(str, outside))}"
        yield AdsError("TV_SHOW_OUTSIDE_MARKET", text, "targeting_value")


def _invalid(text: str) -> AdsError:
    return AdsError(INVALID, text, "targeting_value")


_CHECKS: Mapping[str, _Check] = {
    **dict.fromkeys(AUDIENCES, _check_audience),
    "CAMPAIGN_ENGAGEMENT": _check_campaign,
    "CAMPAIGN_ENGAGEMENT_LOOKALIKE": _check_campaign,
    "FOLLOWERS_OF_USER": _check_own_user,
    "USER_ENGAGEMENT": _check_own_user,
    "USER_ENGAGEMENT_LOOKALIKE": _check_own_user,
    "ENGAGEMENT_TYPE": _check_engagement,
    "TV_SHOW": _check_show,
}

# -- making -------------------------------------------------------------------------------------


def find_option(world: World, targeting_type: str, value: str) -> Record | None:
    """Return the row of the lookups for a value; `None` if they do not list it."""
    kind = _OPTION_TYPES.get(targeting_type, targeting_type)
    match = {"targeting_type": kind, "targeting_value": value}
    return world.store.first("targeting_options", match)


def add_criterion(call: Call, world: World, line_item_id: str, target: Target) -> Record:
    """Store a criterion whose rules were checked, and return it."""
    option = find_option(world, target.type, target.value) or {}
    fields: Record = {
        "line_item_id": line_item_id,
        "name": _derive_name(target, option),
        "targeting_type": target.type,
        "targeting_value": target.value,
        "operator_type": target.operator,
    }
    if target.type == "LOCATION":
        if "location_type" in option:
            fields["location_type"] = _SINGULAR[option["location_type"]]
        fields["_country_code"] = option.get("country_code")
    return add_part(call, world, TABLE, fields, entity=ENTITY)


def _derive_name(target: Target, option: Record) -> str:
    if target.type in AUDIENCES:
        return "Custom audience targeting"
    if target.type == "GENDER":
        return _GENDERS[target.value]
    return str(option.get("name", target.value))


def show_localized(world: World, criterion: Record, language: str) -> Record:
    """Return a criterion with its name in a language, if the lookups have it."""
    option = find_option(world, criterion["targeting_type"], criterion["targeting_value"]) or {}
    name = (option.get("_localized_names") or {}).get(language)
    return criterion if name is None else criterion | {"localized_name": name}
