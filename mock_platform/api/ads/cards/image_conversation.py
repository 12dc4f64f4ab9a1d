"""Image conversation cards: list, read, create, update.

They are stored as the legacy cards that they are, so the operations of `cards` find and delete
them too. The module is named after the path below the account, `cards/image_conversation`.
"""

from __future__ import annotations

from typing import Any

from mock_platform.api.ads.cards.interactive_records import (
    ConversationChanges,
    ConversationParameters,
    find_conversation_faults,
    find_image_misfits,
)
from mock_platform.api.ads.cards.records import IMAGE_CONVERSATION, CardRecord, make_card_uri
from mock_platform.api.ads.conventions import CORE_READS, One, ads, not_found
from mock_platform.api.ads.filters import IdsFilter, PrefixFilter
from mock_platform.api.ads.media.account_media import find_in_library, find_media
from mock_platform.api.ads.resource import TIMESTAMPS, Resource, apply_changes, make_timestamps
from mock_platform.api.v2.media.records import MediaKey, compute_ratio
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.example import Example
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.operation import Echo, Operation, Origin
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

ALL = public_fact(
    "cards-image-conversation.all",
    "Image conversation cards leave unset fields out and do not serve the unlocked image; the "
    "sizes of the image are strings in pixels. The echo holds card_type: image_conversation on "
    "GET and DELETE, IMAGE_CONVERSATION on POST and PUT.",
    "adjacent operations, section 8.2",
    gap=True,
)
RULES = expectation(
    "cards-image-conversation.rules",
    "The rules of video conversation cards hold for pairs of calls to action. The image is in the "
    "library, at least 800 px wide and 1.91:1, the unlocked image 5:2; others answer 400 "
    "INVALID_IMAGE, unless their sizes are not known.",
)
_UNLOCKED = "unlocked_image_media_key"
_UNLOCKED_RATIO = 5 / 2


class _ImageConversations(Resource, frozen=True):
    """Those of the stored cards that are image conversations."""

    def match(self, call: Call) -> dict[str, Any]:
        """Return the fields that the cards of a list must have."""
        return Resource.match(self, call) | {"card_type": IMAGE_CONVERSATION}

    def get_by_id(
        self, call: Call, world: World, *, with_deleted: bool = False, key: str | None = None
    ) -> Record:
        """Return the card in the path, which must be an image conversation.

        Raises:
            AdsFailure: CARD_NOT_FOUND (404): it does not exist, or is a card of another type.
        """
        found = Resource.get_by_id(self, call, world, with_deleted=with_deleted, key=key)
        if found["card_type"] != IMAGE_CONVERSATION:
            raise not_found(self.missing, self.noun, self.id_parameter, found["id"])
        return found


CARDS = _ImageConversations(
    name="cards_image_conversation",
    table="cards",
    path="/12/accounts/:account_id/cards/image_conversation",
    id_parameter="card_id",
    schema=CardRecord,
    noun="image conversation card",
    spec="not shown",
    missing="CARD_NOT_FOUND",
    most_reads=CORE_READS,
)


class ImageConversationUpdate(ConversationChanges):
    """Parameters of the update; an empty value unsets an optional one."""

    unlocked_image_media_key = MediaKey(allow_none=True)


class ImageConversationCreate(ConversationParameters):
    """Parameters of the creation of an image conversation card."""

    unlocked_image_media_key = MediaKey()


def create(call: Call, world: World) -> Record:
    """Create an image conversation card."""
    sent = call.params
    image = _find_image(call, world)
    assert image is not None
    card_id = world.ids.snowflake()
    record = {
        "id": card_id,
        **{name: value for name, value in sent.items() if name != _UNLOCKED},
        **_describe_image(image),
        "card_uri": make_card_uri(card_id),
        "card_type": IMAGE_CONVERSATION,
        **make_timestamps(world),
        f"_{_UNLOCKED}": sent.get(_UNLOCKED),
        "_account_id": call.path_params["account_id"],
        "_legacy": True,
    }
    world.store.put(CARDS.table, card_id, record)
    return record


def update(call: Call, world: World) -> Record:
    """Change an image conversation card; only what is sent changes."""
    before, sent = CARDS.get_by_id(call, world), call.params
    image = _find_image(call, world)
    if not sent:
        return before
    after = apply_changes(world, before, {n: v for n, v in sent.items() if n != _UNLOCKED})
    if _UNLOCKED in sent:
        after[f"_{_UNLOCKED}"] = sent[_UNLOCKED]
    after = {name: value for name, value in after.items() if name[0] == "_" or value is not None}
    broken = [
        AdsError.from_fault(name, fault)
        for name, fault in find_conversation_faults(after, sent.__contains__)
    ]
    if broken:
        raise AdsFailure(*broken)
    if image is not None:
        after |= _describe_image(image)
    world.store.put(CARDS.table, before["id"], after)
    return after


def _find_image(call: Call, world: World) -> Record | None:
    """Return the image that a request names, if it does.

    Raises:
        AdsFailure: MEDIA_NOT_FOUND or INVALID_IMAGE; the image or the unlocked one does not do.
    """
    account_id = call.path_params["account_id"]
    found: dict[str, Record] = {}
    errors: list[AdsError] = []
    for name, look_up in (("media_key", find_in_library), (_UNLOCKED, find_media)):
        key = call.params.get(name)
        media = None if key is None else look_up(world, account_id, key)
        if media is not None:
            found[name] = media
        elif key is not None:
            where = "in the library of this account" if name == "media_key" else "of this account"
            text = f"No media {where} has the key {key!r}"
            errors.append(AdsError("MEDIA_NOT_FOUND", text, name))
    for name, media in () if errors else found.items():
        errors += [AdsError("INVALID_IMAGE", text, name) for text in _find_misfits(name, media)]
    if errors:
        raise AdsFailure(*errors)
    return found.get("media_key")


def _find_misfits(name: str, media: Record) -> list[str]:
    if media["media_type"] != "IMAGE":
        return [f"{name} must be an image, {media['media_key']} is of the type "
                f"{media['media_type']}"]  # fmt: skip
    if name == "media_key":
        return find_image_misfits(media, "a conversation")
    ratio = compute_ratio(media)
    if ratio is None or round(ratio, 2) == _UNLOCKED_RATIO:
        return []
    return [f"the unlocked image must have the aspect 5:2, not {ratio:.2f}:1"]


def _describe_image(image: Record) -> Record:
    """Return a card's fields about its image: its address, and its sizes as strings."""
    sizes = {"image_display_width": image["_width"], "image_display_height": image["_height"]}
    known = {name: str(value) for name, value in sizes.items() if value is not None}
    return {"media_url": image["media_url"], **known}


_READ = Echo(constants={"card_type": "image_conversation"})
_WRITTEN = Echo(constants={"card_type": IMAGE_CONVERSATION})
_ERRORS = ("MEDIA_NOT_FOUND", "INVALID_IMAGE")

_EXAMPLE = Example(path={"card_id": "57i77"})
OPERATIONS: tuple[Operation, ...] = (
    CARDS.list(
        (IdsFilter("card_ids"), PrefixFilter(longest=80)),
        sort=(*TIMESTAMPS, "name"),
        echo=_READ,
        origin=Origin.ADJACENT,
        assumptions=(ALL,),
    ),
    CARDS.get(echo=_READ, origin=Origin.ADJACENT, assumptions=(ALL,), example=_EXAMPLE),
    ads(
        "cards_image_conversation.create",
        "POST",
        CARDS.path,
        create,
        summary="Create an image conversation card",
        spec=CARDS.spec,
        returns=One(CardRecord),
        params=ImageConversationCreate,
        echo=_WRITTEN,
        origin=Origin.ADJACENT,
        assumptions=(ALL, RULES),
        errors=_ERRORS,
        statuses=(404,),
        example=Example(
            query={
                "name": "Espresso or filter",
                "title": "Espresso or filter?",
                "first_cta": "#TeamEspresso",
                "first_cta_post": "Espresso, always.",
                "thank_you_text": "Thanks for choosing",
                "media_key": "3_1712850617439550001",
            }
        ),
    ),
    ads(
        "cards_image_conversation.update",
        "PUT",
        f"{CARDS.path}/:card_id",
        update,
        summary="Change an image conversation card",
        spec=CARDS.spec,
        returns=One(CardRecord),
        params=ImageConversationUpdate,
        echo=_WRITTEN,
        origin=Origin.ADJACENT,
        assumptions=(ALL, RULES),
        errors=("CARD_NOT_FOUND", *_ERRORS),
        statuses=(404,),
        example=_EXAMPLE,
    ),
)
