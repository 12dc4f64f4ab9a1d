"""Account activity of the older interface: the webhooks and subscriptions of its environment."""

from __future__ import annotations

from functools import partial

from tests.api.older.numbers import numbers
from tests.refusals import Refusal, refusals
from tests.support import BEARER, HARBOR, NORTHBIKE, Sandbox, body_of
from tests.support_receiver import Receiver, unused_port

ALL = "/1.1/account_activity/all"
OWN, INES = "2244994945", "2790441185"
WEBHOOK, FOREIGN = "1146654567674912769", "1201845037316968449"


def test_a_webhook(box: Sandbox, receiver: Receiver) -> None:
    """It is challenged when it is registered and again, listed in both interfaces, and deleted."""
    path = f"{ALL}/dev/webhooks"
    made = body_of(box.call("POST", f"{path}.json", query_string={"url": receiver.url}))
    there = [each["id"] for each in box.read("/2/webhooks", keys=BEARER)["data"]]
    listed = box.read(f"{path}.json")
    (environment,) = box.read(f"{ALL}/webhooks.json", keys=BEARER)["environments"]
    again = [box.call("PUT", f"{path}/{made['id']}.json", keys=keys) for keys in (HARBOR, BEARER)]
    gone = box.call("DELETE", f"{path}/{made['id']}.json")

    assert (receiver.url, True, 3) == (made["url"], made["valid"], len(receiver.challenges))
    assert made["id"] in there
    assert made in listed
    assert ("dev", listed) == (environment["environment_name"], environment["webhooks"])
    assert {204} == {each.status_code for each in (*again, gone)}
    assert made not in box.read(f"{path}.json")


def test_subscriptions(box: Sandbox) -> None:
    """A user is subscribed at all webhooks of the app, which v2 shows, until that is ended."""
    path = f"{ALL}/dev/subscriptions"
    before = box.call("GET", f"{path}.json").status_code
    made = box.call("POST", f"{path}.json").status_code
    after = box.call("GET", f"{path}.json").status_code
    there = box.read(f"/2/account_activity/webhooks/{WEBHOOK}/subscriptions/all/list", keys=BEARER)
    listed = box.read(f"{path}/list.json", keys=BEARER)
    counted = box.read(f"{ALL}/count.json", keys=BEARER)
    in_v2 = box.read("/2/account_activity/subscriptions/count", keys=BEARER)
    ended = box.call("DELETE", f"{path}/{OWN}.json", keys=BEARER).status_code
    again = [box.call(how, f"{path}.json").status_code for how in ("POST", "DELETE", "DELETE")]

    assert (404, 204, 204, 204) == (before, made, after, ended)
    assert [204, 204, 404] == again
    assert counted == in_v2["data"]
    assert {"user_id": OWN} in there["data"]["subscriptions"]
    assert {"user_id": OWN} in listed["subscriptions"]
    assert 404 == box.call("GET", f"{path}.json").status_code


webhooks = partial(Refusal, f"POST {ALL}/dev/webhooks.json")
REFUSED = [
    webhooks("no address", 403, shows=numbers(38)),
    webhooks("no web address", 400, query={"url": "ftp://x.example"}, shows=numbers(214)),
    webhooks("an address at which nothing listens", 400, shows=numbers(214),
             query={"url": f"http://127.0.0.1:{unused_port()}/"}),
    webhooks("an address that is registered", 400, shows=numbers(214),
             query={"url": "http://127.0.0.1:8091/webhooks/platform"}),
    Refusal(f"GET {ALL}/prod/webhooks.json", "another environment", 403, shows=numbers(200)),
    Refusal(f"POST {ALL}/prod/subscriptions.json", "to subscribe elsewhere", 403,
            shows=numbers(200)),
    Refusal(f"DELETE {ALL}/dev/webhooks/{FOREIGN}.json", "a webhook of another app", 404,
            shows=numbers(34)),
    Refusal(f"PUT {ALL}/dev/webhooks/99.json", "an unknown webhook", 404, shows=numbers(34)),
    Refusal(f"DELETE {ALL}/dev/subscriptions/{OWN}.json", "to end no subscription", 404,
            keys=BEARER, shows=numbers(34)),
    Refusal(f"GET {ALL}/dev/subscriptions/list.json", "the list for a user", 403, keys=HARBOR,
            shows=numbers(220)),
    Refusal(f"POST {ALL}/dev/subscriptions.json", "a second subscription", 409, keys=NORTHBIKE,
            shows=numbers(355)),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Each refusal has the number and the status of the older interface."""
    row.check(box)
