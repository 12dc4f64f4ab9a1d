"""What calls would have cost, to the cent: the published examples, and the rules behind them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from mock_platform.api.served import OPERATIONS
from mock_platform.control.plane import ControlPlane
from mock_platform.core.jsonio import loads
from mock_platform.serving.app import CONTROL
from mock_platform.verification.costs.document import By
from mock_platform.verification.costs.recorder import CostRecorder
from mock_platform.world.journal import JournalEntry
from tests.support import BEARER, HARBOR, NORTHBIKE, Sandbox, sandbox
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK, Desk
from tests.support_streams import StreamClient, clear_subscriptions

NOON = datetime(2026, 8, 22, 12, tzinfo=UTC)
OWN, OTHER, APP = "2244994945", "3805104374", "11827"
POST, MENTION = "1789900000000000004", "1789900000000000002"
"""A post of another user, and one of that user that mentions the caller."""
UNASKED = "1789900000000000001"
"""A post of the caller, which mentions nobody."""
USERS = (OWN, OTHER, "2790441185", "1500007919")


def read(path: str, **query: Any) -> Callable[[Sandbox], object]:
    """A GET of the well-known user."""
    return lambda box: box.ask("GET", path, **query)


def send(method: str, path: str, **body: Any) -> Callable[[Sandbox], object]:
    """A write of the well-known user."""
    return lambda box: box.call(method, path, json=body)


def own_post(text: str, **more: Any) -> Callable[[Sandbox], object]:
    """A new post of the well-known user."""
    return send("POST", "/2/posts", text=text, **more)


def other_owner(box: Sandbox) -> None:
    """The app belongs to somebody else."""
    box.change("apps", APP, _owner_user_id=OTHER)


def count(box: Sandbox) -> None:
    """The costs are counted now: owners and posts are as they are."""
    box.world.journal.get("r0")


def ten_posts(box: Sandbox) -> None:
    """Ten posts of four authors say `harbourlight`."""
    like = box.record("posts", POST)
    for number in range(10):
        key = str(1990000000000000000 + number)
        created = {"created_at": "2026-08-22T11:00:00Z", "_user_id": USERS[number % 4]}
        text = {"full_text": f"harbourlight {number}", "id_str": key, "id": int(key)}
        box.put("posts", key, like | created | text)


def read_a_liked_post(box: Sandbox) -> None:
    """The list of the posts that the user likes, then one of them by its id."""
    liked = box.read(f"/2/users/{OWN}/liked_posts", max_results=10)["data"]
    box.read(f"/2/posts/{liked[0]['id']}")


SEARCHED = "/2/posts/search/recent"
SEARCH = read(SEARCHED, query="harbourlight", max_results=10, expansions="author_id")
LOOKUP = read("/2/posts", ids=f"1990000000000000000,1990000000000000001,{MENTION}")
BOOKMARKS = read(f"/2/users/{OWN}/bookmarks", max_results=20)
MAY = {"action": "travel", "to": "2026-05-10T12:00:00Z"}
LIKE = f"/2/users/{OWN}/likes"
Step = Callable[[Sandbox], object]
EXAMPLES: dict[str, tuple[tuple[Step, ...], str]] = {
    "ten posts and four authors": ((ten_posts, SEARCH), "0.090"),
    "the same search again": ((ten_posts, SEARCH, SEARCH), "0.090"),
    "a new post among two known ones": ((ten_posts, SEARCH, LOOKUP), "0.095"),
    "own bookmarks": ((BOOKMARKS,), "0.020"),
    "bookmarks in another's app": ((other_owner, BOOKMARKS), "0.100"),
    "owned, then once more as usual": ((BOOKMARKS, count, other_owner, BOOKMARKS), "0.020"),
    "a post": ((own_post("hello"),), "0.015"),
    "a post with an address": ((own_post("hello https://harbor.example"),), "0.200"),
    "a post with a bare host": ((own_post("see harbor.example now"),), "0.200"),
    "a post without one": ((own_post("end.of the.sentence u@harbor.example"),), "0.015"),
    "a post that quotes": ((own_post("this", quote_post_id=POST),), "0.200"),
    "a summoned reply": ((own_post("yes", reply={"in_reply_to_post_id": MENTION}),), "0.010"),
    "another reply": ((own_post("yes", reply={"in_reply_to_post_id": UNASKED}),), "0.015"),
    "like and unlike": ((send("POST", LIKE, post_id=MENTION), send("DELETE", f"{LIKE}/{MENTION}")),
                        "0.025"),
    "refused and empty": (
        (send("POST", LIKE, post_id="x"), read(SEARCHED, query="nobodysaysthis"),
         read("/2/posts/1"), read("/2/users/me", **{"user.fields": "nonsense"})), "0.000"),
    "trends twice": ((lambda box: box.ask("GET", "/2/trends/by/woeid/1", keys=BEARER),) * 2,
                     "0.020"),
    "counts": ((lambda box: box.ask("GET", "/2/posts/counts/recent", keys=BEARER, query="coffee"),),
               "0.005"),
    "another app pays by itself": (
        (read("/2/users", ids=OTHER),
         lambda box: box.ask("GET", "/2/users", keys=NORTHBIKE, ids=OTHER)), "0.020"),
    "the next day": ((read("/2/users/me"), lambda box: box.advance(hours=12), read("/2/users/me")),
                     "0.020"),
    "what has no price is not paid for": (
        (lambda box: box.client.put("/_mock/clock", json=MAY), other_owner, read_a_liked_post),
        "0.005"),
    "advertising is not billed": ((read("/12/accounts"),), "0.000"),
}  # fmt: skip


@pytest.fixture
def box() -> Sandbox:
    """A sandbox on the day of the published prices."""
    return sandbox(freeze=NOON)


def recorder_of(box: Sandbox) -> CostRecorder:
    """What counts the costs of a sandbox."""
    control: ControlPlane = box.app.extensions[CONTROL]
    return control.costs


def total(box: Sandbox, by: By = "operation") -> Any:
    """The costs of the default world."""
    return recorder_of(box).document(box.world, by)


def newest(box: Sandbox) -> JournalEntry:
    """The entry of the last request."""
    return box.world.journal.find(limit=1)[0]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples(name: str, box: Sandbox) -> None:
    """The published ones, and those in which a rule was chosen."""
    steps, usd = EXAMPLES[name]
    for step in steps:
        step(box)

    assert total(box)["usd"] == usd


DATES = (
    ("2025-10-19", "/2/users/me", "0.000", 1, None),
    ("2025-10-20", "/2/users/me", "0.010", 0, "2025-10-20"),
    ("2026-04-20", f"/2/users/{OWN}/followers?max_results=1", "0.001", 0, "2026-04-20"),
    ("2026-04-19", f"/2/users/{OWN}/followers?max_results=1", "0.000", 1, "2025-10-20"),
    ("2026-06-17", "/2/trends/by/woeid/1", "0.000", 1, "2026-04-21"),
    ("2026-06-18", "/2/trends/by/woeid/1", "0.010", 0, "2026-06-18"),
    ("2026-07-21", "/2/users/me", "0.010", 0, "2026-07-21"),
)


@pytest.mark.parametrize(("day", "path", "usd", "unpriced", "prices_of"), DATES)
def test_price_dates(day: str, path: str, usd: str, unpriced: int, prices_of: str | None) -> None:
    """The world's clock says which list is in force."""
    box = sandbox(freeze=datetime.fromisoformat(f"{day}T12:00:00+00:00"))
    answer = box.call("GET", path, keys=BEARER if "trends" in path else HARBOR)
    assert answer.status_code == 200

    found = total(box)

    assert [found["usd"], found["unpriced"], found["prices_of"]] == [usd, unpriced, prices_of]


def test_an_entry_says_what_it_cost(box: Sandbox) -> None:
    """In the journal and its JSON, with the reason; calls that are not billed have none."""
    ten_posts(box)
    SEARCH(box)
    LOOKUP(box)
    said = newest(box).as_json()["cost"]
    box.ask("GET", "/12/accounts")

    why = "1 x Posts: Read at 0.005, 2 more charged on this day before"
    assert said == {"usd": "0.005", "resources": 1, "why": why}
    assert newest(box).cost is None


def test_sums_by_app_and_day(box: Sandbox) -> None:
    """Each has its own items, the dearest first."""
    for text in ("one", "two"):
        own_post(text)(box)
        box.advance(days=1)
    box.ask("GET", "/2/users/me", keys=NORTHBIKE)

    keys = [[item["key"] for item in total(box, by)["items"]] for by in ("app", "day")]

    assert keys == [[APP, "20993"], ["2026-08-22", "2026-08-23", "2026-08-24"]]


@pytest.mark.parametrize("how", ["entries", "bytes", "none", "cleared"])
def test_what_the_journal_forgets_is_counted(how: str) -> None:
    """Whether it drops entries for their number or size, keeps none, or is emptied."""
    limits = {"entries": {"journal_entries": 2}, "bytes": {"journal_bytes": 4000},
              "none": {"journal_entries": 0}}  # fmt: skip
    box = sandbox(freeze=NOON, **limits.get(how, {}))
    for number in range(6):
        own_post(f"number {number}")(box)
        if how == "cleared":
            box.client.delete("/_mock/requests")

    assert len(box.world.journal) < 6
    assert total(box)["usd"] == "0.090"


def test_a_reset_begins_again(box: Sandbox) -> None:
    """The world costs nothing then, and pays again; by test, what was before still counts."""
    read("/2/users/me")(box)
    box.client.post("/_mock/reset")
    empty = total(box)
    read("/2/users/me")(box)

    whole = recorder_of(box).document_of_all()

    assert (empty["calls"], empty["usd"], total(box)["usd"]) == (0, "0.000", "0.010")
    assert whole["items"] == [{"key": "default", "calls": 2, "resources": 2, "usd": "0.020"}]


def test_worlds_that_were_dropped_are_counted(box: Sandbox) -> None:
    """A test has a world of its own, which ends with it."""
    for name in ("w1", "w2"):
        box.client.put(f"/_mock/worlds/{name}")
        box.call("GET", f"/~{name}/2/users/me")
    box.client.delete("/_mock/worlds/w1")

    items = box.client.get("/_mock/costs?by=test").get_json()["items"]
    own = box.client.get("/~w1/_mock/costs?by=test").get_json()

    assert [(item["key"], item["usd"]) for item in items] == [("w1", "0.010"), ("w2", "0.010")]
    assert [item["key"] for item in own["items"]] == ["w1"]


def test_an_event_costs_once(receiver: Receiver) -> None:
    """However many subscriptions deliver it; one without a public price is counted as such."""
    with Desk(receiver.url, freeze=NOON) as desk:
        client = StreamClient(desk)
        clear_subscriptions(desk)
        second = "1146654567674912770"
        desk.put("webhooks", second, desk.record("webhooks", WEBHOOK) | {"id": second})
        for webhook in (WEBHOOK, second):
            for event_type in ("profile.update.bio", "like.create"):
                client.subscribe(event_type=event_type, webhook_id=webhook)
        client.emit()
        client.emit(event_type="like.create", payload={"id": "1"})
        assert desk.platform.deliverer.wait_until_idle(10)
        costs = CostRecorder(desk.platform)

        found = costs.document(desk.world)

    items = {item["key"]: item["usd"] for item in found["items"] if item["key"].startswith("event")}
    assert items == {"event profile.update.bio": "0.005", "event like.create": "0.000"}


def test_lines_of_a_stream_are_reads(receiver: Receiver) -> None:
    """Each post on it costs once, also if it was read before."""
    with Desk(receiver.url, freeze=NOON) as desk:
        client = StreamClient(desk)
        costs = CostRecorder(desk.platform)
        lines = client.open(path="/2/posts/sample/stream")
        for text in ("one", "two"):
            made = client.call("POST", "/2/posts", json={"text": text}, keys=HARBOR)
            assert made.status_code == 201, made.get_data(as_text=True)
            lines.next()
        lines.close()

        items = costs.document(desk.world)["items"]

    (stream,) = [item for item in items if item["key"] == "sample_stream.open"]
    assert stream == {"key": "sample_stream.open", "calls": 1, "resources": 2, "usd": "0.010"}


def test_the_scenario_without_credits(box: Sandbox) -> None:
    """Every operation with a price is refused, no other, and the next call after it works."""
    priced = {operation.id for operation in OPERATIONS if operation.price}
    scenario = box.platform.library.find("credits-depleted")
    assert scenario is not None
    box.client.post("/_mock/scenarios/credits-depleted/activate")
    refused = box.ask("GET", "/2/users/me")
    usage = box.ask("GET", "/2/usage/posts", keys=BEARER)
    box.client.post("/_mock/scenarios/credits-depleted/deactivate")

    assert set(scenario.document["parameters"]["on"]) == priced
    assert (refused.status_code, usage.status_code) == (402, 200)
    assert loads(refused.data)["title"] == "CreditsDepleted"
    assert box.ask("GET", "/2/users/me").status_code == 200
    assert total(box)["usd"] == "0.010"
