"""Account media: filters and what becomes of library videos (document B, "Account media")."""

from __future__ import annotations

import pytest

from tests.api.ads.cards.creatives import UPLOADED_AMPLIFY, UPLOADED_VIDEO, data, delete, get, post
from tests.support import Sandbox


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
