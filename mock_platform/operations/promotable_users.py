"""Promotable users: whose posts an account may promote; list and read."""

from __future__ import annotations

from mock_platform.core.assumptions import public_fact
from mock_platform.core.filters import IdsFilter
from mock_platform.core.operation import Origin
from mock_platform.core.resource import Resource
from mock_platform.records.accounts import PromotableUserRecord
from mock_platform.rules.promotable_users import FULL_USER

ALL = public_fact(
    "promotable-users.all",
    "The promotable users of an account are listed and read with their type, FULL or REPOSTS_ONLY.",
    "adjacent operations, section 9",
    gap=True,
)

PROMOTABLE_USERS = Resource(
    name="promotable_users",
    table="promotable_users",
    path="/12/accounts/:account_id/promotable_users",
    id_parameter="promotable_user_id",
    schema=PromotableUserRecord,
    noun="promotable user",
    spec="not shown",
    missing="PROMOTABLE_USER_NOT_FOUND",
)

OPERATIONS = (
    PROMOTABLE_USERS.list(
        (IdsFilter("promotable_user_ids"),),
        origin=Origin.ADJACENT,
        assumptions=(ALL, FULL_USER),
    ),
    PROMOTABLE_USERS.get(origin=Origin.ADJACENT, assumptions=(ALL, FULL_USER)),
)
