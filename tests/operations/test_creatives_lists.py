"""What the lists and reads of all creatives have in common, as document B words it once."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.operations.creatives import BASE, data, delete, echo, get
from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, faults

THIRD_ACCOUNT = "18ce55fw2ag"


@dataclass(frozen=True)
class Family:
    """One family of creatives: where it is, how much a page holds, and records of the fixtures."""

    path: str
    default: int
    most: int
    key: str
    one: str
    foreign: str
    missing: str
    soft: bool = True
    with_deleted_on_one: bool = True
    card_type: str | None = None


FAMILIES = [
    Family("account_media", 200, 1000, "id", "2pzo", "2r1c", "ACCOUNT_MEDIA_NOT_FOUND"),
    Family("cards", 100, 200, "id", "1712860000001000003", "1712860000017000051", "CARD_NOT_FOUND"),
    Family(
        "media_library",
        20,
        50,
        "media_key",
        "3_1712850617439550001",
        "3_1712850617439552001",
        "MEDIA_NOT_FOUND",
        with_deleted_on_one=False,
    ),
    Family(
        "cards/poll",
        200,
        1000,
        "id",
        "1712870000001000003",
        "1712870000008000024",
        "CARD_NOT_FOUND",
        soft=False,
        card_type="poll",
    ),
    Family(
        "cards/video_conversation",
        200,
        1000,
        "id",
        "1712880000001000003",
        "1712880000007000021",
        "CARD_NOT_FOUND",
        card_type="video_conversation",
    ),
]


@pytest.fixture(params=FAMILIES, ids=lambda family: family.path)
def family(request: pytest.FixtureRequest) -> Family:
    """Each family in turn."""
    found: Family = request.param
    return found


def keys(box: Sandbox, family: Family, **query: str) -> list[str]:
    """The keys of one page."""
    return [record[family.key] for record in data(get(box, family.path, **query))]


@pytest.mark.spec("B, Common conventions", "for lists next_cursor")
def test_small_pages_add_up_to_the_whole(box: Sandbox, family: Family) -> None:
    """Two records a page show every record once, in at least two pages, ending with null."""
    whole = keys(box, family)
    found: list[str] = []
    query = {"count": "2"}
    pages = 0
    while True:
        response = get(box, family.path, **query)
        found += [record[family.key] for record in data(response)]
        pages += 1
        cursor = response.get_json()["next_cursor"]
        if cursor is None:
            break
        query = {"count": "2", "cursor": cursor}

    assert whole == found
    assert pages >= 2


def test_pages_stay_right_while_records_go(box: Sandbox, family: Family) -> None:
    """Deleting what was already shown neither skips nor repeats anything on the next page."""
    whole = keys(box, family)
    first = get(box, family.path, count="2")
    cursor = first.get_json()["next_cursor"]
    if family.path == "cards":
        assert delete(box, f"cards/{whole[0]}").status_code == 200
    else:
        assert delete(box, f"{family.path}/{whole[0]}").status_code == 200

    assert whole[2:] == keys(box, family, count=str(family.most), cursor=cursor)
    assert whole[1:] == keys(box, family)


@pytest.mark.parametrize("beyond", [False, True], ids=["inside", "outside"])
def test_count_is_bounded(box: Sandbox, family: Family, beyond: bool) -> None:
    """The count may be 1 and its maximum, and neither 0 nor one more."""
    low, high = (0, family.most + 1) if beyond else (1, family.most)
    answers = [get(box, family.path, count=str(count)) for count in (low, high)]

    if beyond:
        assert [[("INVALID_PARAMETER", "count")]] * 2 == [faults(answer) for answer in answers]
    else:
        assert [200, 200] == [answer.status_code for answer in answers]
        assert 1 == len(data(answers[0]))


def test_default_count(box: Sandbox, family: Family) -> None:
    """Without a count a page holds the documented number, and the echo names no count."""
    operation = box.platform.where("GET", f"{BASE}/{family.path}")
    assert operation is not None
    assert operation.params is not None

    assert family.default == operation.params().load({})["count"]
    assert {"account_id": ACCOUNT} | type_of(family) == echo(get(box, family.path))


def type_of(family: Family) -> dict[str, str]:
    """What the echo of a family holds beside what was sent."""
    return {} if family.card_type is None else {"card_type": family.card_type}


def test_sort_by(box: Sandbox, family: Family) -> None:
    """Records sort by when they were created, either way, and the echo holds a list."""
    response = get(box, family.path, sort_by="created_at-desc")
    times = [record["created_at"] for record in data(response)]

    assert sorted(times, reverse=True) == times
    assert ["created_at-desc"] == echo(response)["sort_by"]
    assert [("INVALID_PARAMETER", "sort_by")] == faults(
        get(box, family.path, sort_by="media_url-asc")
    )


def test_with_total_count(box: Sandbox, family: Family) -> None:
    """The total counts all records whatever the page holds; with a cursor it is refused."""
    whole = len(keys(box, family))
    response = get(box, family.path, count="1", with_total_count="true")
    cursor = response.get_json()["next_cursor"]
    both = get(box, family.path, cursor=cursor, with_total_count="true")

    assert whole == response.get_json()["total_count"]
    assert (400, [("EXCLUSIVE_PARAMETERS", "with_total_count")]) == (
        both.status_code,
        faults(both),
    )
    assert "total_count" not in get(box, family.path).get_json()


@pytest.mark.spec(
    "B, Account media",
    "GET /12/accounts/:account_id/account_media: account_media_ids",
    "DELETE the same",
)
@pytest.mark.spec("B, Cards", "GET /12/accounts/:account_id/cards: card_types")
@pytest.mark.spec("B, Media library", "DELETE /12/accounts/:account_id/media_library/:media_key")
@pytest.mark.spec("B, Poll cards", "GET /12/accounts/:account_id/cards/poll: card_ids")
@pytest.mark.spec(
    "B, Video conversation cards", "GET /12/accounts/:account_id/cards/video_conversation"
)
@pytest.mark.spec("B, States and transitions", "Account media, media")
@pytest.mark.spec("B, Common conventions", "with_deleted (boolean")
def test_with_deleted(box: Sandbox, family: Family) -> None:
    """Deleted records show only with with_deleted; permanently deleted ones never again."""
    before = keys(box, family)
    all_before = keys(box, family, with_deleted="true")
    if family.path == "cards":
        gone = data(delete(box, f"cards/{family.one}"))
    else:
        gone = data(delete(box, f"{family.path}/{family.one}"))

    assert gone["deleted"] is True
    assert family.one not in keys(box, family)
    assert len(before) - 1 == len(keys(box, family))
    left = keys(box, family, with_deleted="true")
    assert all_before == left if family.soft else family.one not in left


@pytest.mark.spec(
    "B, Account media", "GET /12/accounts/:account_id/account_media/:account_media_id"
)
@pytest.mark.spec("B, Cards", "GET /12/accounts/:account_id/cards/:card_id")
@pytest.mark.spec("B, Media library", "GET /12/accounts/:account_id/media_library/:media_key")
@pytest.mark.spec("B, Poll cards", "GET /12/accounts/:account_id/cards/poll/:card_id")
@pytest.mark.spec("B, Video conversation cards", "GET .../video_conversation/:card_id")
def test_one_with_deleted(box: Sandbox, family: Family) -> None:
    """A deleted record answers 404, and is read with with_deleted where that is documented."""
    path = f"{family.path}/{family.one}"
    read = data(get(box, path))
    assert delete(box, path).status_code == 200
    plain, again = get(box, path), get(box, path, with_deleted="true")

    assert (404, family.missing) == (plain.status_code, faults(plain)[0][0])
    if family.soft and family.with_deleted_on_one:
        assert data(again) == read | {"deleted": True, "updated_at": data(again)["updated_at"]}
    else:
        assert again.status_code == 404


@pytest.mark.spec("B, Account media", "DELETE the same")
@pytest.mark.spec("B, Media library", "DELETE /12/accounts/:account_id/media_library/:media_key")
def test_second_delete(box: Sandbox, family: Family) -> None:
    """What is deleted cannot be deleted again."""
    assert delete(box, f"{family.path}/{family.one}").status_code == 200
    again = delete(box, f"{family.path}/{family.one}")

    assert (404, family.missing) == (again.status_code, faults(again)[0][0])


@pytest.mark.spec(
    "B, Account media", "GET /12/accounts/:account_id/account_media/:account_media_id"
)
@pytest.mark.spec("B, Cards", "GET /12/accounts/:account_id/cards/:card_id")
@pytest.mark.spec("B, Media library", "GET /12/accounts/:account_id/media_library/:media_key")
@pytest.mark.spec("B, Poll cards", "GET /12/accounts/:account_id/cards/poll/:card_id")
@pytest.mark.spec("B, Video conversation cards", "GET .../video_conversation/:card_id")
def test_one_is_read_as_listed(box: Sandbox, family: Family) -> None:
    """A record reads alone as in the list, its id echoed under the path's name."""
    listed = {record[family.key]: record for record in data(get(box, family.path))}
    response = get(box, f"{family.path}/{family.one}")

    assert listed[family.one] == data(response)
    assert family.one in echo(response).values()
    assert not [name for name in data(response) if name.startswith("_")]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_records_of_other_accounts(box: Sandbox, family: Family, method: str) -> None:
    """A record of another account is unknown, as is an id that does not exist."""
    for key in (family.foreign, "nothing"):
        response = box.call(method, f"{BASE}/{family.path}/{key}")

        assert (404, family.missing) == (response.status_code, faults(response)[0][0])
    assert family.foreign not in keys(box, family)


def test_foreign_account(box: Sandbox, family: Family) -> None:
    """Another user's account answers 403; its own user reads it."""
    path = f"/12/accounts/{OTHER_ACCOUNT}/{family.path}"
    refused = box.call("GET", path)

    assert (403, [("ACCOUNT_NOT_FOUND", "account_id")]) == (refused.status_code, faults(refused))
    assert data(box.call("GET", path, keys=NORTHBIKE))


def test_every_account_has_some(box: Sandbox, family: Family) -> None:
    """The second account of the well-known user shows records of its own."""
    found = data(box.call("GET", f"/12/accounts/{THIRD_ACCOUNT}/{family.path}"))

    assert found
    assert not set(keys(box, family)) & {record[family.key] for record in found}


def test_records_carry_the_common_fields(box: Sandbox, family: Family) -> None:
    """Every record shows created_at, updated_at and deleted."""
    for record in data(get(box, family.path)):
        assert {"created_at", "updated_at", "deleted"} <= record.keys()
