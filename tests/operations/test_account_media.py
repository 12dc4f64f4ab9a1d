"""Account media: filters and what becomes of library videos (document B, "Account media")."""

from __future__ import annotations

import pytest

from mock_platform.operations.account_media import CREATIVE_TYPES
from tests.operations.creatives import (
    UPLOADED_AMPLIFY,
    UPLOADED_VIDEO,
    data,
    delete,
    echo,
    get,
    post,
)
from tests.support import Sandbox, faults


@pytest.mark.spec("B, Account media record", "creative_type (enum")
@pytest.mark.spec("operations", "account_media.list")
@pytest.mark.parametrize("kind", CREATIVE_TYPES)
def test_each_creative_type_shows_something(box: Sandbox, kind: str) -> None:
    """The filter takes every creative type, echoes a list and shows that type alone."""
    response = get(box, "account_media", creative_types=kind)

    assert {kind} == {record["creative_type"] for record in data(response)}
    assert [kind] == echo(response)["creative_types"]


@pytest.mark.spec("B, Account media record", "creative_type (enum")
@pytest.mark.spec("operations", "account_media.list")
def test_several_creative_types(box: Sandbox) -> None:
    """Types joined by commas are alternatives; unknown ones are refused."""
    both = data(get(box, "account_media", creative_types="PREROLL,VAST_PREROLL"))
    refused = get(box, "account_media", creative_types="PREROLL,POSTER")

    assert ["PREROLL", "VAST_PREROLL"] == [record["creative_type"] for record in both]
    assert [("INVALID_PARAMETER", "creative_types")] == faults(refused)


@pytest.mark.spec("operations", "account_media.list")
def test_account_media_ids(box: Sandbox) -> None:
    """Ids restrict the list; 200 of them are accepted, 201 refused."""
    found = data(get(box, "account_media", account_media_ids="2q01,2pzo,2r1c,nothing"))
    full = get(box, "account_media", account_media_ids=",".join(["2pzo"] * 200))
    beyond = get(box, "account_media", account_media_ids=",".join(["2pzo"] * 201))

    assert ["2pzo", "2q01"] == [record["id"] for record in found]
    assert ["2pzo"] == [record["id"] for record in data(full)]
    assert [("INVALID_PARAMETER", "account_media_ids")] == faults(beyond)


@pytest.mark.spec("B, Account media record", "id, video_id (nullable)")
def test_video_or_address(box: Sandbox) -> None:
    """An asset has a video or an address, and null for the other."""
    for record in data(get(box, "account_media", with_deleted="true")):
        assert (record["video_id"] is None) != (record["media_url"] is None)


@pytest.mark.spec("B, Media library", "A video of category")
def test_amplify_video_becomes_preroll(box: Sandbox) -> None:
    """An AMPLIFY_VIDEO added to the library becomes a PREROLL asset, which outlives it there."""
    before = {record["id"] for record in data(get(box, "account_media"))}
    assert post(box, "media_library", media_key=UPLOADED_AMPLIFY).status_code == 200
    added = [r for r in data(get(box, "account_media")) if r["id"] not in before]
    assert delete(box, f"media_library/{UPLOADED_AMPLIFY}").status_code == 200

    assert [(UPLOADED_AMPLIFY, None, "PREROLL", False)] == [
        (r["video_id"], r["media_url"], r["creative_type"], r["deleted"]) for r in added
    ]
    assert added[0] == data(get(box, f"account_media/{added[0]['id']}"))


@pytest.mark.spec("B, Media library", "A video of category")
def test_other_videos_become_nothing(box: Sandbox) -> None:
    """A video of another category adds nothing to the account media."""
    before = data(get(box, "account_media"))
    assert post(box, "media_library", media_key=UPLOADED_VIDEO).status_code == 200

    assert before == data(get(box, "account_media"))
