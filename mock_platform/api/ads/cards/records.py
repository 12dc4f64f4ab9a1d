"""Cards: what they consist of, and which type follows (document B, "Card").

The same schemas check what clients send and what fixtures hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from marshmallow import EXCLUDE, ValidationError, validates_schema

from mock_platform.api.v2.objects.post_view import CARD_URI
from mock_platform.core.description.schemas import either, form
from mock_platform.core.faults import INCLUSIVE, Fault, exclusive, invalid, missing
from mock_platform.core.fields import COUNTRY, Choice, CountryCode, Flag, Json, ListOf, Nested, Text
from mock_platform.core.schema import Schema, Stamped
from mock_platform.core.tables.table import AS, RECORDED, Reference, Table
from mock_platform.world.store.interface import Record

if TYPE_CHECKING:
    from mock_platform.core.tables.drawing import Draft

# Addresses of web pages, wherever the interface takes one.


class WebAddress(Text):
    """An absolute http or https address."""

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema of such an address."""
        host, rest = r"[^\s/?#:@\[\]]+", r"(?::[0-9]{1,5})?(?:[/?#]\S*)?"
        return {"pattern": rf"^[Hh][Tt][Tt][Pp][Ss]?://{host}{rest}$"}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            parts = urlsplit(text)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in {"http", "https"} or not parts.hostname or " " in text:
            raise invalid("an http or https address", text, "invalid address")
        return text


CARD_TABLES = ("cards", "poll_cards", "video_conversation_cards")
"""The tables of cards that a post can show."""

CARD_TYPES = (
    "IMAGE_APP",
    "IMAGE_CAROUSEL_APP",
    "IMAGE_CAROUSEL_WEBSITE",
    "IMAGE_MULTI_DEST_CAROUSEL_WEBSITE",
    "IMAGE_WEBSITE",
    "MIXED_MEDIA_MULTI_DEST_CAROUSEL_WEBSITE",
    "MIXED_MEDIA_SINGLE_DEST_CAROUSEL_APP",
    "MIXED_MEDIA_SINGLE_DEST_CAROUSEL_WEBSITE",
    "VIDEO_APP",
    "VIDEO_CAROUSEL_APP",
    "VIDEO_CAROUSEL_WEBSITE",
    "VIDEO_MULTI_DEST_CAROUSEL_WEBSITE",
    "VIDEO_WEBSITE",
)
IMAGE_CONVERSATION = "IMAGE_CONVERSATION"
LEGACY_CARD_TYPES = (
    "IMAGE_APP_DOWNLOAD",
    IMAGE_CONVERSATION,
    "IMAGE_DIRECT_MESSAGE",
    "VIDEO_APP_DOWNLOAD",
    "VIDEO_DIRECT_MESSAGE",
    "WEBSITE",
)
"""The spec names IMAGE_CONVERSATION; the others are those of the public interface."""
LABELS = ("BOOK", "CONNECT", "INSTALL", "OPEN", "ORDER", "PLAY", "SHOP")
MEDIA_COMPONENTS = ("MEDIA", "SWIPEABLE_MEDIA")
COMPONENTS: Mapping[str, tuple[str, ...]] = {
    "MEDIA": ("media_key",),
    "SWIPEABLE_MEDIA": ("media_keys",),
    "DETAILS": ("title", "destination"),
    "BUTTON": ("label", "destination"),
}
"""The fields of each type of component; all of them are required."""
DESTINATIONS: Mapping[str, tuple[str, ...]] = {
    "WEBSITE": ("url",),
    "APP": (
        "country_code",
        "googleplay_app_id",
        "googleplay_deep_link",
        "ios_app_store_identifier",
        "ios_deep_link",
    ),
}
"""The fields that each type of destination may have."""
_DESTINATION_OF = {"DETAILS": "WEBSITE", "BUTTON": "APP"}
_APP_IDS = ("googleplay_app_id", "ios_app_store_identifier")
_DEEP_LINKS = {
    "googleplay_deep_link": "googleplay_app_id",
    "ios_deep_link": "ios_app_store_identifier",
}

CardFaults = dict[str, Any]
"""Faults by field, nested as marshmallow nests them."""


class Label(Schema):
    """The label of a button."""

    type = Choice(("ENUM",), required=True)
    value = Choice(LABELS, required=True)


class Destination(Schema):
    """The target of a card: a website, or an app in one store or both."""

    type = Choice(tuple(DESTINATIONS), required=True)
    url = WebAddress()
    # The form only: the list of all countries is too large to be read at each start.
    country_code = Text(pattern=r"[A-Z]{2}", pattern_text=COUNTRY)
    googleplay_app_id = Text(min_length=1)
    googleplay_deep_link = Text(min_length=1)
    ios_app_store_identifier = Text(min_length=1)
    ios_deep_link = Text(min_length=1)

    @validates_schema(pass_original=True, skip_on_field_errors=False)
    def check_type(self, data: Record, original: Any, **_: Any) -> None:
        """Require fields of this type only, and those that the others need."""
        kind: str = data.get("type", "")
        if kind not in DESTINATIONS:
            return
        faults = _find_foreign_fields(original, kind, DESTINATIONS, "destinations")
        if kind == "WEBSITE":
            faults |= _find_missing_fields(original, ("url",), "a WEBSITE destination")
        else:
            faults |= _find_missing_fields(original, ("country_code",), "an APP destination")
            if not any(name in original for name in _APP_IDS):
                faults |= {
                    name: [missing("{name}", f"in an APP destination without {other}")]
                    for name, other in zip(_APP_IDS, reversed(_APP_IDS), strict=True)
                }
            faults |= {
                link: [Fault(f"{link} needs {app}", INCLUSIVE)]
                for link, app in _DEEP_LINKS.items()
                if link in original and app not in original
            }
        _raise_faults(faults)


class Component(Schema):
    """One part of a card. Fields follow from the type."""

    type = Choice(tuple(COMPONENTS), required=True)
    media_key = Text(min_length=1)
    media_keys = ListOf(Text(min_length=1), least=2, most=6)
    title = Text(min_length=1)
    label = Nested(Label)
    destination = Nested(Destination)
    media_metadata = Json()

    @validates_schema(pass_original=True, skip_on_field_errors=False)
    def check_type(self, data: Record, original: Any, **_: Any) -> None:
        """Require all fields of the type, no others, and the type's kind of destination."""
        kind: str = data.get("type", "")
        if kind not in COMPONENTS:
            return
        faults = _find_foreign_fields(original, kind, COMPONENTS, "components")
        needed = COMPONENTS[kind]
        name = "media_metadata"
        if kind in MEDIA_COMPONENTS and name in self.load_fields and name in original:
            needed = ()  # of a recorded card, whose media may be gone
        faults |= _find_missing_fields(original, needed, f"a {kind} component")
        wanted, given = _DESTINATION_OF.get(kind), _read_type(original.get("destination"))
        if wanted is not None and given in DESTINATIONS and given != wanted:
            text = f"a {kind} component leads to {wanted} destinations, not to {given}"
            faults["destination"] = {"type": [Fault(text)]}
        _raise_faults(faults)


class SentDestination(Destination):
    """A destination in a request."""

    json_conditions: ClassVar[dict[str, Any]] = either(
        form("type", "WEBSITE", needed=("url",), foreign=DESTINATIONS["APP"]),
        *(
            form("type", "APP", needed=("country_code", app), foreign=("url",))
            | {"dependentRequired": {link: [its] for link, its in _DEEP_LINKS.items()}}
            for app in _APP_IDS
        ),
    )
    country_code = CountryCode()


class SentComponent(Component):
    """A component in a request, where unknown keys are ignored."""

    json_conditions: ClassVar[dict[str, Any]] = either(
        *(
            form("type", kind, needed=needed, foreign=chain(*COMPONENTS.values()))
            for kind, needed in COMPONENTS.items()
        )
    )
    label = Nested(Label, unknown=EXCLUDE)
    destination = Nested(SentDestination, unknown=EXCLUDE)
    media_metadata = Json(dump_only=True)


class CardContent(Schema):
    """The rules about `components` and `slides` as a whole."""

    @validates_schema(pass_original=True, skip_on_field_errors=False)
    def check_content(self, data: Record, original: Any, **_: Any) -> None:
        """Refuse components beside slides, and either one if not composed as the spec demands."""
        if not isinstance(original, Mapping):
            return
        faults: CardFaults = {}
        if "components" in original and "slides" in original:
            faults["components"] = [exclusive("components", "slides")]
        elif isinstance(original.get("components"), list):
            need = _describe_misfit(original["components"], MEDIA_COMPONENTS, ("DETAILS", "BUTTON"))
            if need:
                faults["components"] = [Fault("a card needs " + need)]
        elif isinstance(original.get("slides"), list):
            misfits = {
                index: [Fault("a slide needs " + need)]
                for index, slide in enumerate(original["slides"])
                if isinstance(slide, list)
                and (need := _describe_misfit(slide, ("MEDIA",), ("DETAILS",)))
            }
            if misfits:
                faults["slides"] = misfits
        _raise_faults(faults)


def _make_legacy_text() -> Text:
    """Make a field that legacy cards of some types have; sizes are texts as well."""
    return Text(allow_none=True)


class LegacyContent(Schema):
    """Fields that legacy cards have instead of components; each type has some of them."""

    title = _make_legacy_text()
    media_key = _make_legacy_text()
    media_url = _make_legacy_text()
    first_cta = _make_legacy_text()
    first_cta_post = _make_legacy_text()
    second_cta = _make_legacy_text()
    second_cta_post = _make_legacy_text()
    third_cta = _make_legacy_text()
    third_cta_post = _make_legacy_text()
    fourth_cta = _make_legacy_text()
    fourth_cta_post = _make_legacy_text()
    first_cta_welcome_message_id = _make_legacy_text()
    second_cta_welcome_message_id = _make_legacy_text()
    third_cta_welcome_message_id = _make_legacy_text()
    fourth_cta_welcome_message_id = _make_legacy_text()
    recipient_user_id = _make_legacy_text()
    thank_you_text = _make_legacy_text()
    thank_you_url = _make_legacy_text()
    website_title = _make_legacy_text()
    website_url = _make_legacy_text()
    website_dest_url = _make_legacy_text()
    website_display_url = _make_legacy_text()
    website_shortened_url = _make_legacy_text()
    image = _make_legacy_text()
    image_display_width = _make_legacy_text()
    image_display_height = _make_legacy_text()
    wide_app_image = _make_legacy_text()
    video_url = _make_legacy_text()
    video_hls_url = _make_legacy_text()
    video_content_id = _make_legacy_text()
    video_owner_id = _make_legacy_text()
    video_width = _make_legacy_text()
    video_height = _make_legacy_text()
    video_poster_url = _make_legacy_text()
    video_poster_width = _make_legacy_text()
    video_poster_height = _make_legacy_text()
    poster_media_url = _make_legacy_text()
    content_duration_seconds = _make_legacy_text()
    country_code = _make_legacy_text()
    app_cta = _make_legacy_text()
    googleplay_app_id = _make_legacy_text()
    googleplay_deep_link = _make_legacy_text()
    ios_app_store_identifier = _make_legacy_text()
    ios_deep_link = _make_legacy_text()


_LEGACY_FIELDS = tuple(LegacyContent().fields)


class CardRecord(Stamped, CardContent, LegacyContent):
    """A card, with `components` or `slides`; a legacy card has fields of its own type instead."""

    id = Text(required=True)
    name = Text(required=True, min_length=1, max_length=80)
    card_type = Choice((*CARD_TYPES, *LEGACY_CARD_TYPES), required=True)
    card_uri = Text(required=True, pattern=CARD_URI, pattern_text="card://<card_id>")
    components = ListOf(Nested(Component))
    slides = ListOf(ListOf(Nested(Component)), least=2, most=6)
    _account_id = Text(required=True)
    _legacy = Flag(load_default=False)
    _unlocked_image_media_key = Text(allow_none=True)


def find_used_media(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each media key of a card, after its place in the card."""
    if "slides" in content:
        for number, slide in enumerate(content["slides"]):
            yield from _find_media_keys(slide, f"slides[{number}]")
    else:
        yield from _find_media_keys(content["components"], "components")


def derive_card_type(content: Mapping[str, Any], videos: Collection[str]) -> str:
    """Return the type that follows from a card's content; `videos` are media keys of videos."""
    kinds = {key in videos for _, key in find_used_media(content)}
    media = "MIXED_MEDIA" if len(kinds) == 2 else "VIDEO" if True in kinds else "IMAGE"
    if "slides" in content:
        return f"{media}_MULTI_DEST_CAROUSEL_WEBSITE"
    types = {component["type"] for component in content["components"]}
    end = "WEBSITE" if "DETAILS" in types else "APP"
    if "MEDIA" in types:
        return f"{media}_{end}"
    return f"{media}_{'SINGLE_DEST_' if len(kinds) == 2 else ''}CAROUSEL_{end}"


def make_card_uri(card_id: str) -> str:
    """Return the address by which a post refers to a card."""
    return f"card://{card_id}"


def _find_media_keys(
    components: Sequence[Mapping[str, Any]], where: str
) -> Iterator[tuple[str, str]]:
    for index, component in enumerate(components):
        if "media_key" in component:
            yield f"{where}[{index}].media_key", component["media_key"]
        for place, key in enumerate(component.get("media_keys", ())):
            yield f"{where}[{index}].media_keys[{place}]", key


def _read_type(value: Any) -> str:
    """Return the type that a component or destination names; empty without one."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _find_foreign_fields(
    original: Mapping[str, Any], kind: str, fields: Mapping[str, Sequence[str]], noun: str
) -> CardFaults:
    """Return faults of the fields that belong to other types only."""
    owners = {
        name: [other for other, names in fields.items() if name in names]
        for names in fields.values()
        for name in names
    }
    return {
        name: [Fault(f"{name} belongs to {' and '.join(kinds)} {noun} only, not to {kind}")]
        for name, kinds in owners.items()
        if name in original and kind not in kinds
    }


def _find_missing_fields(
    original: Mapping[str, Any], names: Sequence[str], owner: str
) -> CardFaults:
    return {name: [missing("{name}", f"in {owner}")] for name in names if name not in original}


def _describe_misfit(
    components: list[Any], media: Sequence[str], ends: Sequence[str]
) -> str | None:
    """Describe what a list of components needs; `None` if it is complete or has unknown types."""
    types = [kind for one in components if (kind := _read_type(one)) in COMPONENTS]
    if len(types) < len(components):
        return None  # reported at the component
    one_of_each = len(types) == 2 and all(
        sum(kind in group for kind in types) == 1 for group in (media, ends)
    )
    if one_of_each:
        return None
    shown = ", ".join(types) or "none"
    return f"exactly one {' or '.join(media)} and one {' or '.join(ends)} component, got {shown}"


def _raise_faults(faults: CardFaults) -> None:
    if faults:
        raise ValidationError(faults)


def _check(record: Record) -> Iterator[tuple[str, str]]:
    content = [name for name in ("components", "slides") if name in record]
    if record["_legacy"]:
        for name in content:
            yield name, f"a legacy card has no {name}"
        return
    for field in _LEGACY_FIELDS:
        if field in record:
            yield field, f"only legacy cards have {field}; they carry _legacy: true"
    if not content:
        yield "components", "a card has components or slides; legacy cards carry _legacy: true"
    if record["card_type"] not in CARD_TYPES:
        yield "card_type", f"a card that is not legacy is one of {', '.join(CARD_TYPES)}"
    if record["card_uri"] != make_card_uri(record["id"]):
        yield "card_uri", f"card_uri must be {make_card_uri(record['id'])}"


def _read_recorded(record: Record) -> Record:
    """Return a card; a recorded one without components and slides is a legacy card."""
    is_legacy = record.get(AS) == RECORDED and not record.keys() & {"components", "slides"}
    return {**record, "_legacy": True} if is_legacy else dict(record)


def draw_card(draft: Draft) -> Record:
    """Return a card like one of the default fixtures, with an address of its own."""
    id_ = draft.record.get("id") or draft.id()
    return {**draft.model(), "id": id_, "card_uri": make_card_uri(id_)}


CARDS = Table(
    "cards",
    CardRecord,
    references=(Reference("_account_id", "accounts"),),
    check=_check,
    from_public=_read_recorded,
    draw=draw_card,
)
TABLES = (CARDS,)
