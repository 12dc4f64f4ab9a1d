"""What targeting criteria may name: the values that the lookups list (adjacent operations)."""

from __future__ import annotations

from mock_platform.core.fields import Choice, Flag, Instant, Json, ListOf, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.records.table import Table

KINDS_OF_OPTIONS = (
    "app_store_categories",
    "conversations",
    "devices",
    "events",
    "interests",
    "languages",
    "locations",
    "network_operators",
    "platform_versions",
    "platforms",
    "tv_markets",
    "tv_shows",
)
LOCATION_TYPES = ("COUNTRIES", "REGIONS", "METROS", "CITIES", "POSTAL_CODES")


class ShowLocale(Schema):
    """A language and a country in which a TV show is broadcast."""

    language = Text(required=True)
    country = Text(required=True)


class TargetingOptionRecord(Schema):
    """One row of a lookup. Which of the optional fields it has depends on `_kind`."""

    name = Text(required=True)
    targeting_type = Text()
    targeting_value = Text()
    country_code = Text(allow_none=True)
    location_type = Choice(LOCATION_TYPES)
    os_type = Text()
    manufacturer = Text()
    number = Text()
    conversation_type = Text()
    event_type = Text()
    start_time = Instant()
    end_time = Instant()
    is_global = Flag()
    genre = Text()
    locale = Text()
    locales = ListOf(Nested(ShowLocale))
    _id = Text(required=True)
    _kind = Choice(KINDS_OF_OPTIONS, required=True)
    _localized_names = Json()
    """Names by language code."""


TARGETING_OPTIONS = Table("targeting_options", TargetingOptionRecord, key="_id")
TABLES = (TARGETING_OPTIONS,)
