"""Cards: list, read, create, update, and the delete by type (document B, "Cards").

Poll cards and conversation cards have the same path segment but are families of their own, in
`poll` and `conversations`. The delete by card type is here: it serves legacy cards and video
conversation cards, which have no delete of their own. So is `cards/all`: cards of any kind, found
by their addresses or by id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from marshmallow import EXCLUDE, INCLUDE, ValidationError, validates_schema
from msgspec.structs import replace

from mock_platform.api.ads.cards.conversations import VIDEO_CARDS
from mock_platform.api.ads.cards.interactive_records import VIDEO_CONVERSATION
from mock_platform.api.ads.cards.records import (
    CARD_TABLES,
    CARD_TYPES,
    IMAGE_CONVERSATION,
    LEGACY_CARD_TYPES,
    CardContent,
    CardRecord,
    SentComponent,
    derive_card_type,
    find_used_media,
    make_card_uri,
)
from mock_platform.api.ads.conventions import CORE_READS, Data, One, ads, fail, not_found
from mock_platform.api.ads.filters import ExactFilter, IdsFilter, OneOfFilter, PrefixFilter
from mock_platform.api.ads.media.media_library import find_media
from mock_platform.api.ads.resource import (
    TIMESTAMPS,
    Resource,
    apply_changes,
    make_timestamps,
    mark_deleted,
)
from mock_platform.api.v2.media.records import compute_aspect, is_video
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.description.schemas import exclusive
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import INVALID, missing, unlisted
from mock_platform.core.fields import Choice, CommaList, Flag, ListOf, Nested, Text
from mock_platform.core.operation import Example, Location, Operation, Origin
from mock_platform.core.schema import Schema, Stamped
from mock_platform.world.store.interface import Record, remove_internal_keys
from mock_platform.world.world import World

SINGLE_IN_OBJECT = settled(
    "cards.single-in-object",
    "A single card is an object under data; --card-envelope array puts the card of GET, PUT and "
    "DELETE into an array, as the public samples do.",
)
DERIVED_TYPE = settled(
    "cards.derived-type",
    "card_type follows from content: image (a GIF counts as one) or video, website or app; "
    "SWIPEABLE_MEDIA of one kind is a CAROUSEL, of both a MIXED_MEDIA_SINGLE_DEST_CAROUSEL; slides "
    "make a MULTI_DEST_CAROUSEL_WEBSITE.",
)
SLIDE_RULES = settled(
    "cards.slides",
    "There are 2 to 6 slides, each of one MEDIA and one DETAILS component; a card is served with "
    "components or slides, as it was sent.",
)
MEDIA_KNOWN = settled(
    "cards.media-known",
    "Media keys must be known to the account, uploaded or in its library; others answer 404 "
    "MEDIA_NOT_FOUND.",
)
CARD_IDS = settled("cards.card-ids", "The filter card_id is taken under the name card_ids as well.")
LEGACY_CARDS = settled(
    "cards.legacy",
    "Legacy cards come from fixtures, image conversation cards from their own operations too. They "
    "are listed with include_legacy_cards, read like others, deleted under their type in any case, "
    "and cannot be updated by PUT cards/:card_id. Image conversation cards are deleted for good; "
    "the delete answers with the record, deleted true.",
)
DELETES_CONVERSATIONS = public_fact(
    "cards.delete-video-conversation",
    "DELETE cards/:card_type/:card_id deletes video conversation cards too.",
    "section 7, cards",
)
DELETE_BY_ID = public_fact(
    "cards.delete-by-id",
    "DELETE cards/:card_id deletes a card of any type; the spec shows the delete of legacy card "
    "types only.",
    "section 7, cards",
    gap=True,
)

MEDIA_METADATA = public_fact(
    "cards.media-metadata",
    "With --wire recorded, each media component of a card has media_metadata: for each of its "
    "media keys type, url, width and height, of videos video_duration and video_aspect_ratio too; "
    "nothing of media that the account no longer has. Sent back, it is ignored with a warning.",
    "wire, section 3",
)
ALL_KINDS_SERVED = public_fact(
    "cards-all.all",
    "Cards of every kind are read by address, without next_cursor, or by id: those of the card "
    "builder, legacy cards, polls and conversation cards, each with its own keys.",
    "adjacent operations, section 8.3",
    gap=True,
)
UNKNOWN_LEFT_OUT = expectation(
    "cards-all.left-out",
    "Addresses of unknown cards are left out; the others are returned in the order in which they "
    "were sent.",
)

PATH = "/12/accounts/:account_id/cards"
_SORT = (*TIMESTAMPS, "name")


class _Cards(Resource, frozen=True):
    """Cards, of which legacy ones are listed only on request."""

    def match(self, call: Call) -> dict[str, Any]:
        """Return the fields that the cards of a list must have."""
        match = Resource.match(self, call)
        if not call.params.get("include_legacy_cards"):
            match["_legacy"] = False
        return match

    def remove(self, world: World, key: str, record: Record) -> Record:
        """Delete a card; nothing of an image conversation stays."""
        if record["card_type"] != IMAGE_CONVERSATION:
            return Resource.remove(self, world, key, record)
        world.store.remove(self.table, key)
        return mark_deleted(world, record)


CARDS = _Cards(
    name="cards",
    table="cards",
    path=PATH,
    id_parameter="card_id",
    schema=CardRecord,
    noun="card",
    spec="Cards",
    missing="CARD_NOT_FOUND",
    card=True,
    most_reads=CORE_READS,
)


class CardPath(Schema):
    """The type under which a card is deleted: in upper, lower or mixed case."""

    card_type = Choice(
        [
            spelling
            for name in (*CARD_TYPES, *LEGACY_CARD_TYPES, VIDEO_CONVERSATION)
            for spelling in (name, name.lower())
        ],
        metadata={"description": "in any case"},
    )


class CardUpdate(CardContent):
    """Body of an update; each field replaces the stored one."""

    json_conditions: ClassVar[dict[str, Any]] = {"not": {"required": ["components", "slides"]}}

    name = Text(min_length=1, max_length=80)
    components = ListOf(Nested(SentComponent, unknown=EXCLUDE))
    slides = ListOf(ListOf(Nested(SentComponent, unknown=EXCLUDE)), least=2, most=6)


class CardCreate(CardUpdate):
    """Body of the creation of a card."""

    json_conditions: ClassVar[dict[str, Any]] = exclusive("components", "slides")

    name = Text(required=True, min_length=1, max_length=80)

    @validates_schema(pass_original=True, skip_on_field_errors=False)
    def check_presence(self, data: Record, original: Any, **_: Any) -> None:
        """Require components or slides in a new card."""
        if isinstance(original, Mapping) and not {"components", "slides"} & original.keys():
            raise ValidationError({"components": [missing("components", "unless slides is given")]})


class DeletedCard(CardRecord):
    """A card that was deleted under its type: a legacy card or a video conversation card."""

    card_type = Choice((*CARD_TYPES, *LEGACY_CARD_TYPES, VIDEO_CONVERSATION), required=True)


def create(call: Call, world: World) -> Record:
    """Create a card; its type follows from its content."""
    videos = _find_videos(call, world, call.params)
    card_id = world.ids.snowflake()
    record = {
        "id": card_id,
        "name": call.params["name"],
        "card_type": derive_card_type(call.params, videos),
        "card_uri": make_card_uri(card_id),
        **_pick_content(call.params),
        **make_timestamps(world),
        "_account_id": call.path_params["account_id"],
        "_legacy": False,
    }
    world.store.put("cards", card_id, record)
    return _show(call, world, record)


def update(call: Call, world: World) -> Record:
    """Replace the name, the components or the slides of a card."""
    record, sent = CARDS.get_by_id(call, world), call.params
    content = _pick_content(sent)
    if record["_legacy"]:
        call.assume(LEGACY_CARDS)
        text = f"{record['id']} is a legacy card, which cannot be updated; create a card instead"
        raise fail(INVALID, text, "card_id")
    if not sent:
        return _show(call, world, record)
    after = apply_changes(world, record, {"name": sent.get("name", record["name"])})
    if content:
        kept = {
            name: value for name, value in after.items() if name not in {"components", "slides"}
        }
        after = (
            kept
            | content
            | {"card_type": derive_card_type(content, _find_videos(call, world, content))}
        )
    world.store.put("cards", record["id"], after)
    return _show(call, world, after)


def delete(call: Call, world: World) -> Record:
    """Delete a card under its type: a legacy card, or a video conversation card."""
    sent = call.path_params["card_type"]
    kind = sent.upper()
    if kind == VIDEO_CONVERSATION:
        call.assume(DELETES_CONVERSATIONS)
        record = VIDEO_CARDS.get_by_id(call, world)
        return VIDEO_CARDS.remove(world, record["id"], record)
    call.assume(LEGACY_CARDS)
    if kind not in {*LEGACY_CARD_TYPES, *CARD_TYPES}:
        known = (*LEGACY_CARD_TYPES, VIDEO_CONVERSATION)
        unknown = unlisted(known, sent, "UNKNOWN_CARD_TYPE").naming("card_type")
        raise AdsFailure(AdsError.from_fault("card_type", unknown))
    record = CARDS.get_by_id(call, world)
    if not record["_legacy"] or record["card_type"] != kind:
        noun = f"legacy card of the type {kind}"
        raise not_found("CARD_NOT_FOUND", noun, "card_id", record["id"])
    return CARDS.remove(world, record["id"], record)


def _show(call: Call, world: World, record: Record) -> Record:
    """Return a card with what the recorded wire says of its media."""
    if call.wire != "recorded":
        return record
    call.assume(MEDIA_METADATA)
    account_id = record["_account_id"]
    content = _pick_content(record)
    return record | {name: _add_media(world, account_id, part) for name, part in content.items()}


def _add_media(world: World, account_id: str, part: Any) -> Any:
    if isinstance(part, list):
        return [_add_media(world, account_id, each) for each in part]
    keys = [part["media_key"]] if "media_key" in part else part.get("media_keys", ())
    if not keys or "media_metadata" in part:
        return part
    described = {key: _describe_media(find_media(world, account_id, key)) for key in keys}
    return part | {"media_metadata": described}


def _describe_media(media: Record | None) -> Record:
    if media is None:
        return {}
    shown = {
        "type": media["media_type"],
        "url": media["media_url"],
        "width": media["_width"],
        "height": media["_height"],
    }
    if is_video(media):
        shown |= {
            "video_duration": media.get("duration"),
            "video_aspect_ratio": ":".join(compute_aspect(media)),
        }
    return shown


def _assume_filters(call: Call) -> None:
    """Record the assumptions of a list's filters; filters nothing itself."""
    if "card_ids" in call.params:
        call.assume(CARD_IDS)
    if call.params["include_legacy_cards"]:
        call.assume(LEGACY_CARDS)


def _pick_content(sent: Mapping[str, Any]) -> Record:
    return {name: sent[name] for name in ("components", "slides") if name in sent}


def _find_videos(call: Call, world: World, content: Mapping[str, Any]) -> Collection[str]:
    """Return those media keys of a card that are videos.

    Raises:
        AdsFailure: 404 MEDIA_NOT_FOUND; the account does not have some of the media.
    """
    if "slides" in content:
        call.assume(SLIDE_RULES)
    videos: set[str] = set()
    errors: list[AdsError] = []
    for where, key in find_used_media(content):
        found = find_media(world, call.path_params["account_id"], key)
        if found is None:
            text = f"No media of this account has the key {key!r}"
            errors.append(AdsError("MEDIA_NOT_FOUND", text, where))
        elif is_video(found):
            videos.add(key)
    if errors:
        raise AdsFailure(*errors)
    return videos


# -- cards of any kind --------------------------------------------------------------------------


class AnyCard(Stamped):
    """What cards of every kind have; each kind has keys of its own."""

    class Meta:
        """Further keys belong to the kind of the card."""

        unknown = INCLUDE

    id = Text(required=True)
    name = Text(required=True)
    card_type = Text(required=True)
    card_uri = Text(required=True)


class AllCardsQuery(Schema):
    """Which cards to read."""

    card_uris = CommaList(Text(min_length=1), required=True, most=200)
    with_deleted = Flag(load_default=False)


class OneOfAllQuery(Schema):
    """Whether a deleted card is shown."""

    with_deleted = Flag(load_default=False)


def list_all_kinds(call: Call, world: World) -> list[Record]:
    """Return the cards with these addresses."""
    addresses = dict.fromkeys(call.params["card_uris"])
    return [card for address in addresses for card in _find_by_address(call, world, address)]


def get_of_any_kind(call: Call, world: World) -> Record:
    """Return the card with the id in the path, of any kind."""
    key = call.path_params["card_id"]
    for table in CARD_TABLES:
        card = world.store.get(table, key)
        if card is not None and _is_shown(call, card):
            return card
    raise not_found("CARD_NOT_FOUND", "card", "card_id", key)


def _find_by_address(call: Call, world: World, address: str) -> Iterator[Record]:
    match = {"_account_id": call.path_params["account_id"], "card_uri": address}
    for table in CARD_TABLES:
        for entry in world.store.page(table, match):
            if _is_shown(call, entry.record):
                yield remove_internal_keys(entry.record)


def _is_shown(call: Call, card: Record) -> bool:
    own = card["_account_id"] == call.path_params["account_id"]
    return own and (call.params["with_deleted"] or not card["deleted"])


_WRITE = (SINGLE_IN_OBJECT, DERIVED_TYPE, MEDIA_KNOWN)

_ALL_KINDS = f"{PATH}/all"

_EXAMPLE = Example(path={"card_id": "1712860000001000003"})
OPERATIONS: tuple[Operation, ...] = (
    CARDS.list(
        (
            OneOfFilter("card_types", "card_type", (*CARD_TYPES, *LEGACY_CARD_TYPES)),
            IdsFilter("card_id"),
            IdsFilter("card_ids"),
            ExactFilter("card_uris", "card_uri"),
            PrefixFilter(longest=80),
        ),
        count=100,
        most=200,
        sort=_SORT,
        extra={"include_legacy_cards": Flag(load_default=False)},
        where=_assume_filters,
        show=_show,
        may_assume=(CARD_IDS, LEGACY_CARDS, MEDIA_METADATA),
    ),
    CARDS.get(
        show=_show,
        assumptions=(SINGLE_IN_OBJECT,),
        may_assume=(LEGACY_CARDS, MEDIA_METADATA),
        example=_EXAMPLE,
    ),
    ads(
        "cards.create",
        "POST",
        PATH,
        create,
        summary="Create a card",
        spec=CARDS.spec,
        returns=One(CardRecord),
        params=CardCreate,
        location=Location.JSON,
        assumptions=_WRITE,
        may_assume=(SLIDE_RULES, MEDIA_METADATA),
        errors=("MEDIA_NOT_FOUND",),
        statuses=(404,),
        example=Example(
            json={
                "name": "Cold brew",
                "components": [
                    {"type": "MEDIA", "media_key": "3_1712850617439550001"},
                    {
                        "type": "DETAILS",
                        "title": "Cold brew, delivered",
                        "destination": {
                            "type": "WEBSITE",
                            "url": "https://shop.example.com/cold-brew",
                        },
                    },
                ],
            }
        ),
    ),
    ads(
        "cards.update",
        "PUT",
        f"{PATH}/:card_id",
        update,
        summary="Replace parts of a card",
        spec=CARDS.spec,
        returns=One(CardRecord, card=True),
        params=CardUpdate,
        location=Location.JSON,
        assumptions=_WRITE,
        may_assume=(SLIDE_RULES, LEGACY_CARDS, MEDIA_METADATA),
        errors=("CARD_NOT_FOUND", "MEDIA_NOT_FOUND"),
        statuses=(404,),
        example=Example(path=_EXAMPLE.path, json={"name": "Cold brew at home"}),
    ),
    ads(
        "cards.delete",
        "DELETE",
        f"{PATH}/:card_type/:card_id",
        delete,
        path_form=CardPath,
        summary="Delete a legacy card or a video conversation card under its type",
        spec=CARDS.spec,
        returns=One(DeletedCard, card=True),
        assumptions=(SINGLE_IN_OBJECT,),
        may_assume=(LEGACY_CARDS, DELETES_CONVERSATIONS),
        errors=("CARD_NOT_FOUND", "UNKNOWN_CARD_TYPE"),
        statuses=(404,),
        # A static segment wins over a path parameter, so these types need their own paths.
        also=tuple(f"{PATH}/{kind}_conversation/:card_id" for kind in ("image", "video")),
        example=Example(path={"card_id": "57i8b", "card_type": "WEBSITE"}),
    ),
    replace(
        CARDS.delete(
            origin=Origin.PUBLIC_FACT,
            assumptions=(SINGLE_IN_OBJECT, DELETE_BY_ID),
            summary="Delete a card of any type",
            example=_EXAMPLE,
        ),
        id="cards.delete_by_id",
    ),
    ads(
        "cards_all.list",
        "GET",
        _ALL_KINDS,
        list_all_kinds,
        summary="Read cards of any kind by their addresses",
        spec="not shown",
        returns=Data(AnyCard, many=True),
        params=AllCardsQuery,
        origin=Origin.ADJACENT,
        assumptions=(ALL_KINDS_SERVED, UNKNOWN_LEFT_OUT),
        most_reads=CORE_READS,
    ),
    ads(
        "cards_all.get",
        "GET",
        f"{_ALL_KINDS}/:card_id",
        get_of_any_kind,
        summary="Read one card of any kind",
        spec="not shown",
        returns=One(AnyCard),
        params=OneOfAllQuery,
        origin=Origin.ADJACENT,
        assumptions=(ALL_KINDS_SERVED,),
        errors=("CARD_NOT_FOUND",),
        statuses=(404,),
        most_reads=CORE_READS,
    ),
)
