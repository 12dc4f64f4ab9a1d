"""The records with which the test suites of published clients run are fixtures."""

from __future__ import annotations

from pathlib import Path

from tests.live.programs.records_of_suites import write
from tests.support import BEARER, sandbox


def test_records_are_fixtures(tmp_path: Path) -> None:
    """What the suites ask for by id is there, with more than one page where they read on."""
    write(tmp_path)
    box = sandbox(fixtures=(tmp_path,))

    for path in (
        "/2/posts/20?expansions=author_id",
        "/2/posts/1344794616005066752?expansions=referenced_posts.id",
        "/2/posts/870042717589340160?expansions=attachments.media_keys",
        "/2/posts/20/reposted_by",
        "/2/users/12/followers",
        "/2/users/12/mentions",
        "/2/spaces/1YpKkzBgBlVxj",
        "/2/communities/123456789",
        "/1.1/lists/show?slug=Official-Twitter-Accounts&owner_screen_name=Twitter",
        "/1.1/users/lookup?user_id=6844292,6253282",
    ):
        answer = box.call("GET", path, keys=BEARER)
        assert (200, False) == (answer.status_code, "errors" in answer.text), answer.text
    for path in ("/2/users/12/posts?", "/2/posts/search/recent?query=nodeJS&"):
        page = box.call("GET", f"{path}max_results=10", keys=BEARER).get_json()
        assert "next_token" in page["meta"]
