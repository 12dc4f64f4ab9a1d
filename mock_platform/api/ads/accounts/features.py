"""Features of an account: read anywhere, added and removed on the sandbox (document B)."""

from __future__ import annotations

from collections.abc import Iterable

from mock_platform.api.ads.conventions import Data, ads
from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.example import Example
from mock_platform.core.fields import Choice, CommaList, Text
from mock_platform.core.operation import Operation
from mock_platform.core.schema import Schema
from mock_platform.world.world import World

READ_FILTER = (
    "REACH_AND_FREQUENCY_ANALYTICS",
    "REACH_FREQUENCY_CAP",
    "WEBSITE_CLICKS_CPM_BILLING",
)
"""Documented values of the read filter ("Account feature keys")."""
SANDBOX_KEYS = (
    "AGE_TARGETING",
    "ALLOW_SKIPPABLE_VIDEOS_FOR_PREROLL_VIEWS_OBJECTIVE",
    "AWARENESS_OBJECTIVE",
    "BRAND_TPN",
    "CHARGE_FOR_GOOD_CLICK",
    "CONVERSATION_CARD",
    "CONVERSATION_CARD_FOUR_OPTIONS",
    "CONVERSATION_CARD_UNLOCK",
    "CPI_CHARGING",
    "DIRECT_MESSAGE_CARD",
    "DR_TAP",
    "ENGAGER_RETARGETING",
    "EVENT_TARGETING",
    "INSTALLED_APP_CATEGORY_TARGETING",
    "MOBILE_CONVERSION_TRANSACTION_VALUE",
    "OPTIMIZED_ACTION_BIDDING",
    "PREROLL_VIEWS_OBJECTIVE",
    "REACH_AND_FREQUENCY_ANALYTICS",
    "REACH_FREQUENCY_CAP",
    "VALIDATED_AGE_TARGETING",
    "VIDEO_APP_DOWNLOAD_CARD",
    "VIDEO_VIEWS_MIDROLL_OBJECTIVE",
)
"""Feature keys that the sandbox can add and remove ("Account feature keys")."""

ORDER = public_fact(
    "features.alphabetical",
    "Feature keys are listed in alphabetical order, without a cursor.",
    "section 7, features",
)
OTHER_KEYS = public_fact(
    "features.read-filter",
    "The read filter takes keys beyond its documented values and leaves those that the account "
    "has; unknown ones are ignored.",
    "section 7, features",
)
SANDBOX_ONLY_THESE = settled(
    "features.sandbox-values",
    "The sandbox adds and removes exactly the documented keys; others are refused and come from "
    "fixtures alone. Adding a present key and removing an absent one change nothing.",
)


class FeaturesGet(Schema):
    """Parameters of the read of features."""

    feature_keys = CommaList(
        Text(min_length=1), metadata={"description": f"documented values: {', '.join(READ_FILTER)}"}
    )


class FeaturesChange(Schema):
    """Parameters of the sandbox's operations on features."""

    feature_keys = CommaList(Choice(SANDBOX_KEYS), required=True)


def get(call: Call, world: World) -> list[str]:
    """Return those of the requested feature keys that the account has."""
    assert call.account is not None
    wanted = call.params.get("feature_keys")
    if wanted is None:
        return sorted(set(call.account["_features"]))
    if not set(wanted) <= set(READ_FILTER):
        call.assume(OTHER_KEYS)
    return sorted({*call.account["_features"]} & {*wanted})


def add(call: Call, world: World) -> list[str]:
    """Add features to the account; return all that it has."""
    assert call.account is not None
    return _store_keys(call, world, {*call.account["_features"], *call.params["feature_keys"]})


def remove(call: Call, world: World) -> list[str]:
    """Remove features from the account; return those that it still has."""
    assert call.account is not None
    return _store_keys(call, world, {*call.account["_features"]} - {*call.params["feature_keys"]})


def _store_keys(call: Call, world: World, keys: Iterable[str]) -> list[str]:
    """Store the account's features; they are not fields on the wire, so `updated_at` stays."""
    assert call.account is not None
    current = sorted(keys)
    world.store.put("accounts", call.account["id"], call.account | {"_features": current})
    return current


_PATH = "/12/accounts/:account_id/features"

OPERATIONS: tuple[Operation, ...] = (
    ads(
        "features.get",
        "GET",
        _PATH,
        get,
        summary="Read the features of an account",
        spec="Accounts",
        returns=Data(many=True),
        params=FeaturesGet,
        assumptions=(ORDER,),
        may_assume=(OTHER_KEYS,),
    ),
    ads(
        "features.add",
        "POST",
        _PATH,
        add,
        summary="Add features to a sandbox account",
        spec="Accounts",
        returns=Data(many=True),
        params=FeaturesChange,
        sandbox_only=True,
        assumptions=(ORDER, SANDBOX_ONLY_THESE),
        example=Example(query={"feature_keys": "CONVERSATION_CARD"}),
    ),
    ads(
        "features.remove",
        "DELETE",
        _PATH,
        remove,
        summary="Remove features from a sandbox account",
        spec="Accounts",
        returns=Data(many=True),
        params=FeaturesChange,
        sandbox_only=True,
        assumptions=(ORDER, SANDBOX_ONLY_THESE),
        example=Example(query={"feature_keys": "CONVERSATION_CARD"}),
    ),
)
