"""What the lists and reads of all creatives have in common, as document B words it once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from mock_platform.api.ads.cards.records import CARD_TYPES
from mock_platform.api.ads.media.media_library import CREATIVE_TYPES
from tests.api.ads.cards.creatives import IMAGE, VIDEO
from tests.api.ads.support import BASE, assumptions, drop, echo, get, ids, load
from tests.support import Sandbox, data_of, faults, refusal


@dataclass(frozen=True)
class Family:
    """One family of creatives: where it is, and one record of the fixtures."""

    path: str
    one: str
    missing: str = "CARD_NOT_FOUND"
    key: str = "id"
    soft: bool = True
    with_deleted_on_one: bool = True


FAMILIES = [
    Family("account_media", "2pzo", "ACCOUNT_MEDIA_NOT_FOUND"),
    Family("cards", "1712860000001000003"),
    Family("media_library", IMAGE, "MEDIA_NOT_FOUND", "media_key", with_deleted_on_one=False),
    Family("cards/poll", "1712870000001000003", soft=False),
    Family("cards/video_conversation", "1712880000001000003"),
]


def keys(box: Sandbox, family: Family, **query: str) -> list[str]:
    """The keys of one page."""
    return [record[family.key] for record in load(box, family.path, **query)]


each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.path)


@pytest.mark.spec("operations", "account_media.list", "account_media.delete", "cards.list")
@pytest.mark.spec("operations", "media_library.delete", "cards_poll.list")
@pytest.mark.spec("operations", "cards_video_conversation.list")
@pytest.mark.spec("operations", "account_media.get", "cards.get", "media_library.get")
@pytest.mark.spec("operations", "cards_poll.get", "cards_video_conversation.get")
@pytest.mark.spec("B, States and transitions", "Account media, media")
@pytest.mark.spec("B, Common conventions", "with_deleted (boolean")
@each_family
def test_with_deleted(box: Sandbox, family: Family) -> None:
    """Deleted records show only with with_deleted; permanently deleted ones never again.

    One by itself answers 404, and is read with with_deleted where that is documented.
    """
    path = f"{family.path}/{family.one}"
    before, all_before = keys(box, family), keys(box, family, with_deleted="true")
    read, gone = load(box, path), drop(box, path)
    plain, again = get(box, path), get(box, path, with_deleted="true")

    assert gone["deleted"] is True
    assert [key for key in before if key != family.one] == keys(box, family)
    left = keys(box, family, with_deleted="true")
    assert all_before == left if family.soft else family.one not in left
    assert (404, family.missing) == (plain.status_code, faults(plain)[0][0])
    if family.soft and family.with_deleted_on_one:
        shown = data_of(again)
        assert shown == read | {"deleted": True, "updated_at": shown["updated_at"]}
    else:
        assert again.status_code == 404


@pytest.mark.spec("operations", "account_media.get", "cards.get", "media_library.get")
@pytest.mark.spec("operations", "cards_poll.get", "cards_video_conversation.get")
@each_family
def test_one_is_read_as_listed(box: Sandbox, family: Family) -> None:
    """A record reads alone as in the list, its id echoed under the path's name."""
    listed = {record[family.key]: record for record in load(box, family.path)}
    response = get(box, f"{family.path}/{family.one}")

    assert listed[family.one] == data_of(response)
    assert family.one in echo(response).values()
    assert not [name for name in data_of(response) if name.startswith("_")]


CARD, SLIDES = "1712860000001000003", "1712860000005000015"
POLL, IMAGE_POLL = "1712870000001000003", "1712870000005000015"
TALK, SECOND_TALK = "1712880000001000003", "1712880000002000006"


@pytest.mark.spec("operations", "account_media.list", "cards.list", "cards_poll.list")
@pytest.mark.spec("operations", "cards_video_conversation.list")
@pytest.mark.parametrize(("path", "name", "sent", "found"), [
    ("account_media", "account_media_ids", ["2q01", "2pzo", "2r1c", "no"], ["2pzo", "2q01"]),
    ("cards", "card_id", [SLIDES, CARD, "no"], [CARD, SLIDES]),
    ("cards", "card_ids", [SLIDES, CARD, "no"], [CARD, SLIDES]),
    ("cards", "card_uris", [f"card://{CARD}", "card://1"], [CARD]),
    ("cards/poll", "card_ids", [IMAGE_POLL, POLL, "no"], [POLL, IMAGE_POLL]),
    ("cards/video_conversation", "card_ids", [SECOND_TALK, TALK, "no"], [TALK, SECOND_TALK]),
])  # fmt: skip
def test_ids(box: Sandbox, path: str, name: str, sent: list[str], found: list[str]) -> None:
    """Ids restrict the list; 200 of them are accepted, 201 refused."""
    response = get(box, path, **{name: ",".join(sent)})
    full, beyond = (get(box, path, **{name: ",".join(sent[:1] * n)}) for n in (200, 201))

    assert (found, sent) == (ids(response), echo(response)[name])
    assert 1 == len(data_of(full))
    assert (400, [("INVALID_PARAMETER", name)]) == refusal(beyond)
    assert ("cards.card-ids" in assumptions(response)) == ((path, name) == ("cards", "card_ids"))


SEARCHED = ["cards", "cards/poll", "cards/video_conversation"]


@pytest.mark.spec("operations", "cards.list", "cards_poll.list", "cards_video_conversation.list")
@pytest.mark.spec("B, Limits", "Field lengths: card q", side="inside")
@pytest.mark.parametrize(("path", "q", "expected"), [
    ("cards", "cold", ["Cold brew at home", "Cold brew story"]),
    ("cards", "COLD BREW S", ["Cold brew story"]), ("cards", "brew", []),
    ("cards/poll", "BEST", ["Best roast", "Best bean"]), ("cards/poll", "roast", []),
    ("cards/video_conversation", "BREW", ["Brew talk"]), ("cards/video_conversation", "talk", []),
    *((path, "c" * 80, []) for path in SEARCHED),
])  # fmt: skip
def test_q(box: Sandbox, path: str, q: str, expected: list[str]) -> None:
    """The search is a prefix of the name, whatever its case."""
    assert expected == [record["name"] for record in load(box, path, q=q)]


@pytest.mark.spec("operations", "cards.list", "cards_poll.list", "cards_video_conversation.list")
@pytest.mark.spec("B, Limits", "Field lengths: card q", side="outside")
@pytest.mark.parametrize("path", SEARCHED)
def test_length_of_q(box: Sandbox, path: str) -> None:
    """The search has at most 80 characters, and at least one."""
    for q in ("c" * 81, ""):
        assert [("INVALID_PARAMETER", "q")] == faults(get(box, path, q=q))


@pytest.mark.spec("operations", "account_media.list", "cards.list")
@pytest.mark.spec("B, Account media record", "creative_type (enum")
@pytest.mark.spec("B, Card", "card_type values")
@pytest.mark.parametrize(("path", "field", "kinds"), [
    *(("account_media", "creative_type", [kind]) for kind in CREATIVE_TYPES),
    *(("cards", "card_type", [kind]) for kind in CARD_TYPES),
    ("account_media", "creative_type", ["PREROLL", "VAST_PREROLL"]),
    ("cards", "card_type", ["IMAGE_APP", "VIDEO_APP"]),
])  # fmt: skip
def test_types(box: Sandbox, path: str, field: str, kinds: list[str]) -> None:
    """The filter takes every type, and several as alternatives, and shows those alone.

    It echoes a list; unknown types are refused.
    """
    response = get(box, path, **{f"{field}s": ",".join(kinds)})
    refused = get(box, path, **{f"{field}s": f"{kinds[0]},POSTER"})

    assert set(kinds) == {record[field] for record in data_of(response)}
    assert kinds == echo(response)[f"{field}s"]
    assert [("INVALID_PARAMETER", f"{field}s")] == faults(refused)


@pytest.mark.spec("operations", "cards.update", "media_library.update")
@pytest.mark.spec("operations", "cards_video_conversation.update")
@pytest.mark.parametrize(
    "path", [f"cards/{CARD}", f"cards/video_conversation/{TALK}", f"media_library/{VIDEO}"]
)
def test_an_update_of_nothing(box: Sandbox, path: str) -> None:
    """An update without parameters changes nothing."""
    body: dict[str, Any] = {"json": {}} if path == f"cards/{CARD}" else {}
    before = load(box, path)

    assert before == data_of(box.call("PUT", f"{BASE}/{path}", **body))
