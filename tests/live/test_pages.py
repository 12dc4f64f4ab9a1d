"""Pages whose commands and programs are run as copied; `tests/test_docs.py` has their links."""

from __future__ import annotations

from pathlib import Path

import pytest
import requests

from tests.live.pages import Page, run_bash
from tests.live.processes import Served
from tests.prepared_python import PreparedPython
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

LANGUAGES = {
    "agents": {"bash", "text", "python"}, "ad-accounts": {"bash"}, "any-language": {"bash", "text"},
    "as-a-flask-application": {"bash", "python"}, "cases": {"bash", "text"},
    "costs": {"bash", "text", "python", "yaml"}, "encrypted-chat": {"bash"},
    "fit": {"bash", "text", "json"}, "SKILL": {"bash"}, "make-records": {"bash", "text", "python"},
    "media-news-and-notes": {"bash"}, "clients": {"text", "python"}, "types-and-async": {"python"},
    "wire": {"python"}, "users": {"bash"}, "problems": {"bash", "python", "text"},
}  # fmt: skip
"""Those of all code blocks: nothing is there that nothing below runs; `text` shows."""
WALKED = {
    "agents": (
        "public_posts.delete: DELETE /2/posts/:id",
        "usage-capped is on in world default",
        " 429 GET ",
        "Failure that acted: usage-capped",
        "edit_history_post_ids",
        "(tool list_campaigns)",
    ),
    "ad-accounts": (
        '"permissions":["CAMPAIGN_ANALYST"]',
        '"targeting_type":"LOCATION"',
        '"scheduled_status":"SUCCESS"',
        '"feed_url":"http://127.0.0.1:9/shop.csv"',
    ),
    "cases": (
        "World default with its 2 requests is in bug.zip. `mock-platform open bug.zip`",
        "2 requests of bug.zip repeated: every answer is the recorded one.",
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
    "make-records": (
        "200 line_items were made in world default: 26z12, mal13, vhnnp, x9gun, q2b6b …",
        '{"table":"line_items","made":20,"ids":["',
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
ALONE: dict[str, str] = {"any-language": '\n200 429 200\n{"count":1}', "as-a-flask-application": ""}
"""How what a page prints ends whose commands start their servers."""
OTHERS = {name: Page(f"docs/{name}.md") for name in ("for-qa", "tour")}
OTHERS["streams"] = Page("docs/streams.md", "The filtered stream")
"""Pages whose commands other tests run."""
PROGRAMS = {
    f"{name}-{number}": program
    for name, page in ({name: Page(f"docs/{name}.md") for name in LANGUAGES} | OTHERS).items()
    for number, program in enumerate(page.programs())
}


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
def test_programs_work(name: str, loaded_python: PreparedPython, tmp_path: Path) -> None:
    """Each program runs by itself, in a folder of its own."""
    done = loaded_python.run(PROGRAMS[name], tmp_path)

    assert (0, "") == (done.returncode, done.stderr)


def test_aiohttp_is_led_here(
    python_libraries: Path, loaded_python: PreparedPython, tmp_path: Path
) -> None:
    """The program of the page, with aiohttp as it is published."""
    program = Page("docs/types-and-async.md").files()["with_aiohttp.py"]
    installed = f"import sys\nsys.path.insert(0, {str(python_libraries)!r})\n"

    done = loaded_python.run(installed + program, tmp_path)

    assert (0, "200 harbor_roasters\n") == (done.returncode, done.stdout), done.stderr
