"""What the lists and reads of all creatives have in common, as document B words it once."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.operations.creatives import BASE, data, delete, echo, get
from tests.support import Sandbox, faults


@dataclass(frozen=True)
class Family:
    """One family of creatives: where it is, and records of the fixtures."""

    path: str
    key: str
    one: str
    foreign: str
    missing: str
    soft: bool = True
    with_deleted_on_one: bool = True


FAMILIES = [
    Family("account_media", "id", "2pzo", "2r1c", "ACCOUNT_MEDIA_NOT_FOUND"),
    Family("cards", "id", "1712860000001000003", "1712860000017000051", "CARD_NOT_FOUND"),
    Family(
        "media_library",
        "media_key",
        "3_1712850617439550001",
        "3_1712850617439552001",
        "MEDIA_NOT_FOUND",
        with_deleted_on_one=False,
    ),
    Family(
        "cards/poll",
        "id",
        "1712870000001000003",
        "1712870000008000024",
        "CARD_NOT_FOUND",
        soft=False,
    ),
    Family(
        "cards/video_conversation",
        "id",
        "1712880000001000003",
        "1712880000007000021",
        "CARD_NOT_FOUND",
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


@pytest.mark.spec("operations", "account_media.list", "account_media.delete", "cards.list")
@pytest.mark.spec("operations", "media_library.delete", "cards_poll.list")
@pytest.mark.spec("operations", "cards_video_conversation.list")
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


@pytest.mark.spec("operations", "account_media.get", "cards.get", "media_library.get")
@pytest.mark.spec("operations", "cards_poll.get", "cards_video_conversation.get")
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


@pytest.mark.spec("operations", "account_media.delete", "media_library.delete")
def test_second_delete(box: Sandbox, family: Family) -> None:
    """What is deleted cannot be deleted again."""
    assert delete(box, f"{family.path}/{family.one}").status_code == 200
    again = delete(box, f"{family.path}/{family.one}")

    assert (404, family.missing) == (again.status_code, faults(again)[0][0])


@pytest.mark.spec("operations", "account_media.get", "cards.get", "media_library.get")
@pytest.mark.spec("operations", "cards_poll.get", "cards_video_conversation.get")
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
