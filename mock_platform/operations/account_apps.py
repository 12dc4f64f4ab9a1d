"""The mobile apps of an account (document B, "Accounts" and "Account app")."""

from __future__ import annotations

from mock_platform.core.fields import Flag, Text
from mock_platform.core.resource import Resource
from mock_platform.core.schema import Stamped
from mock_platform.records.table import Reference, Table


class AccountAppRecord(Stamped):
    """A mobile app that an account promotes. `app_store_identifier` is the store's own id."""

    id = Text(required=True)
    app_store_identifier = Text(required=True)
    conversion_tracking_enabled = Flag(load_default=False)
    deep_link_pattern = Text(load_default=None, allow_none=True)
    os_type = Text(required=True)
    _account_id = Text(required=True)


ACCOUNT_APPS = Resource(
    name="account_apps",
    table="account_apps",
    path="/12/accounts/:account_id/account_apps",
    id_parameter="account_app_id",
    schema=AccountAppRecord,
    noun="account app",
    spec="Accounts",
)

TABLES = (
    Table("account_apps", AccountAppRecord, references=(Reference("_account_id", "accounts"),)),
)
OPERATIONS = (ACCOUNT_APPS.list(),)
