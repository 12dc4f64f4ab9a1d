"""Pages whose commands and programs are run as copied; `tests/test_docs.py` has their links."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.live.pages import Page, run_bash, run_python
from tests.live.processes import Served, serving
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

LANGUAGES = {
    "ad-accounts": {"bash"},
    "any-language": {"bash", "text"},
    "as-a-flask-application": {"bash", "python"},
    "costs": {"bash", "text", "python", "yaml"},
    "encrypted-chat": {"bash"},
    "fit": {"bash", "text", "json"},
    "SKILL": {"bash"},
    "media-news-and-notes": {"bash"},
    "clients": {"text", "python"},
    "wire": {"python"},
    "users": {"bash"},
    "problems": {"bash", "python", "text"},
}
"""Those of all code blocks: nothing is there that nothing below runs; `text` shows."""
WALKED = {
    "ad-accounts": (
        '"permissions":["CAMPAIGN_ANALYST"]',
        '"targeting_type":"LOCATION"',
        '"scheduled_status":"SUCCESS"',
        '"feed_url":"http://127.0.0.1:9/shop.csv"',
    ),
    "costs": (
        "2 calls would have cost $0.020 (prices of ",
        '"prices_of"',
        '"why":',
        '"title":"CreditsDepleted"',
        '"title":"Payment Required"',
    ),
    "encrypted-chat": (
        '"public_key_version":"1769594400000"',
        '"has_message_requests":false',
        '"conversation_key_events"',
        '"encoded_message_event"',
    ),
    "fit": ("bot.py:2: GET /2/users/me: assumed  users.me", '"first_test"'),
    "SKILL": (
        "Harbor Roasters",
        "public_posts.create",
        "UsageCapExceeded",
        "X-Mock-Rule: outage",
        "X-Mock-Why: No credentials",
        "would have cost",
        "2 passed",
    ),
    "media-news-and-notes": (
        '"state":"succeeded"',
        '"variants"',
        "Waterfront market opens with a coffee mile",
        '"evaluator_score_bucket"',
        '"post_id"',
        '"state":"Running"',
        "UsageCapExceeded",
    ),
    "users": (
        '"username":"northbike_co"',
        "Could not find post with ids: [5].",
        '"result_count":1',
        '"created_at":"2026-01-05T10:00:00.000Z"',
        '"liked":true',
        "ines_duarte",
        '"name":"Recipes"',
        '"bookmarked":false',
        '"participant_count":41',
        '"topics"',
        '"spaces_end"',
        '"state":"ended"',
        '"member_count":1',
        "What we will drink after the climb",
        '"pinned":true',
        '"name":"Home roasters"',
        '"trend_name":"Night trains"',
        '"trend_name":"#Cortado"',
    ),
    "problems": (
        '"status":"ok"',
        "X-Mock-Why: No bearer token of this value was ever issued here.",
        '"matched": 0',
    ),
}
"""What the commands of a page print, one after the other, at a server that runs."""
ALONE: dict[str, str] = {
    "any-language": '\n200 429 200\n{"count":1}',
    "as-a-flask-application": "",
}
"""How what a page prints ends whose commands start their servers."""
PROGRAMS = {
    f"{name}-{number}": program
    for name in ("as-a-flask-application", "clients", "costs", "problems", "wire")
    for number, program in enumerate(Page(f"docs/{name}.md").programs())
}


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A server that each page finds as it starts."""
    with serving() as found:
        yield found


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_block_is_tried(name: str) -> None:
    """A block in another language would be run by nothing."""
    assert LANGUAGES[name] == Page(f"docs/{name}.md").languages


@pytest.mark.parametrize("name", WALKED)
def test_the_commands_work_one_after_the_other(name: str, served: Served, tmp_path: Path) -> None:
    """The whole page in one shell, and it shows what the page says."""
    assert requests.post(f"{served.url}/_mock/reset", timeout=PATIENCE).ok
    script = "\n".join(Page(f"docs/{name}.md").blocks("bash"))
    for address in ("http://127.0.0.1:8080", "localhost:8080"):
        script = script.replace(address, served.url)

    done = run_bash(f"export MOCK_PLATFORM_URL={served.url}\n{script}", tmp_path)

    assert 0 == done.returncode, done.stderr
    assert [] == [text for text in WALKED[name] if text not in done.stdout]


@pytest.mark.parametrize("name", ALONE)
def test_commands_that_start_their_servers_work(name: str, tmp_path: Path) -> None:
    """As copied, with nothing on standard error."""
    done = run_bash("\n".join(Page(f"docs/{name}.md").blocks("bash")), tmp_path)

    assert 0 == done.returncode, done.stderr
    assert done.stdout.endswith(ALONE[name])
    assert ALONE[name] or not done.stderr
    assert name != "any-language" or "Harbor Roasters" in done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_work(name: str, tmp_path: Path) -> None:
    """Each program runs by itself, in a folder of its own."""
    done = run_python(PROGRAMS[name], tmp_path)

    assert (0, "") == (done.returncode, done.stderr)
