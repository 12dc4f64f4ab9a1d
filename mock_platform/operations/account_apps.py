"""The mobile apps of an account (document B, "Accounts" and "Account app")."""

from __future__ import annotations

from mock_platform.core.resource import Resource
from mock_platform.records.accounts import AccountAppRecord

ACCOUNT_APPS = Resource(
    name="account_apps",
    table="account_apps",
    path="/12/accounts/:account_id/account_apps",
    id_parameter="account_app_id",
    schema=AccountAppRecord,
    noun="account app",
    spec="Accounts",
)

OPERATIONS = (ACCOUNT_APPS.list(),)
