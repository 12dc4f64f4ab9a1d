from __future__ import annotations

import json

import pytest
from werkzeug import Request, Response

from mock_platform.verification.compare.shadow import ShadowSettings, ShadowTraffic
from tests.support import ACCOUNT, BEARER, HARBOR, sandbox
from tests.verification.compare.servers import Differing, each, known_credentials, on, shadowing

pytestmark = pytest.mark.live
LIST = f"/12/accounts/{ACCOUNT}/line_items"


def test_reads_are_compared(second: Differing) -> None:
    """A read is sent after it was answered; its difference is in the journal and the report."""
    second.patches.append(on("/line_items", each(lambda record: record.pop("name"))))
    with shadowing(second) as (box, _):
        answer = box.call("GET", LIST, keys=BEARER)
        box.call("DELETE", f"{LIST}/zz", keys=BEARER)

    report = box.client.get("/_mock/shadow").get_json()
    entry = box.client.get(f"/_mock/requests/{answer.headers['X-Mock-Request-Id']}").get_json()

    assert [("GET", LIST)] == second.asked
    assert {"sent": 1, "compared": 1, "not_sent": 1, "dropped": 0, "failed": 0} == {
        name: report[name] for name in ("sent", "compared", "not_sent", "dropped", "failed")
    }
    (finding,) = report["findings"]
    assert ("missing", "data[].name", 1) == (
        finding["kind"], finding["where"], finding["count"],
    )  # fmt: skip
    assert "missing" == entry["shadow"]["differences"][0]["kind"]
    assert BEARER not in json.dumps(report)


def test_what_opens_the_console_stays_here(second: Differing) -> None:
    """The other service gets the client's cookies without the console's, and no control token."""
    seen: list[Request] = []
    second.patches.append(lambda asked, _: seen.append(asked))
    with shadowing(second, sandbox(control_token="s3cret")) as (box, _):
        logged_in = box.client.post(
            "/_mock/console/login", data={"token": "s3cret"}, headers={"Origin": "http://localhost"}
        )
        cookie = logged_in.headers["Set-Cookie"].partition(";")[0]
        assert cookie.startswith("mock_platform_console=")
        box.client.set_cookie("own", "1")
        sent = {"X-Mock-Control-Token": "s3cret", "Authorization": f"Bearer {BEARER}"}
        box.client.get(LIST, headers=sent)
        box.client.get(LIST, headers={"Authorization": "Bearer s3cret"})

    assert ["own=1"] * 2 == [asked.headers["Cookie"] for asked in seen]
    assert {f"Bearer {BEARER}", None} == {asked.headers.get("Authorization") for asked in seen}
    assert "s3cret" not in "".join(str(asked.headers) for asked in seen)


def test_writes_and_credentials(second: Differing) -> None:
    """Writes are sent if wanted, with their body, and signed for the other address."""
    with shadowing(second, writes=True, credentials=known_credentials()) as (box, traffic):
        line_item = box.call("GET", LIST).get_json()["data"][0]["id"]
        box.call("PUT", f"{LIST}/{line_item}", form={"entity_status": "PAUSED"})
    report = traffic.report()

    assert {("GET", LIST), ("PUT", f"{LIST}/{line_item}")} == set(second.asked)
    assert (2, []) == (report["compared"], report["findings"])
    stored = second.platform.worlds.default.store.get("line_items", line_item)
    assert stored is not None
    assert "PAUSED" == stored["entity_status"]


@pytest.mark.parametrize(("wire", "kinds"), [("spec", ["rate"]), ("recorded", [])])
def test_each_wire(second: Differing, wire: str, kinds: list[str]) -> None:
    """Another sandbox answers on the client's wire; only documented limits have to be equal."""
    seen: list[str | None] = []

    def change(asked: Request, response: Response) -> None:
        seen.append(asked.headers.get("X-Mock-Wire"))
        response.headers["x-rate-limit-limit"] = "7"

    second.patches.append(change)
    with shadowing(second) as (box, traffic):
        headers = {"X-Mock-Wire": wire, "Accept-Encoding": "gzip"}
        box.call("GET", "/2/users/2244994945", keys=BEARER, headers=headers)

    assert ([wire], kinds) == (seen, [each["kind"] for each in traffic.report()["findings"]])


def test_a_signature_for_another_address(second: Differing) -> None:
    """Without credentials of its own a signed request is refused there, which is no difference."""
    with shadowing(second) as (box, traffic):
        box.call("GET", LIST, keys=HARBOR)
    report = traffic.report()

    assert (1, 0, []) == (report["failed"], report["compared"], report["findings"])
    assert "--shadow-credentials" in report["last_fault"]


def test_redirects_and_an_unreachable_service(second: Differing) -> None:
    """A redirect is a difference and not followed; a service that does not answer is a fault."""

    def redirect(asked: Request, response: Response) -> None:
        response.status_code = 302
        response.headers["Location"] = "http://127.0.0.1:9/"

    second.patches.append(redirect)
    with shadowing(second) as (box, traffic):
        box.call("GET", "/12/accounts", keys=BEARER)
    with shadowing("http://127.0.0.1:9") as (gone, failing):
        gone.call("GET", "/12/accounts", keys=BEARER)
    found = traffic.report()["findings"]

    assert ["302 to http://127.0.0.1:9/ (not followed)"] == [each["got"] for each in found]
    assert (1, 0) == (failing.report()["failed"], failing.report()["compared"])
    assert "127.0.0.1:9" in str(failing.report()["last_fault"])


def test_a_full_queue_drops_and_counts() -> None:
    """The client is never kept waiting: what has no room is dropped and counted."""
    box = sandbox()
    settings = ShadowSettings("http://127.0.0.1:9")
    traffic = ShadowTraffic(
        box.platform, settings, {"paths": {}, "components": {"schemas": {}}},
        lambda url: ("plain", url), entries=2,
    )  # fmt: skip
    box.platform.observers.append(traffic.observe)  # nothing takes from the queue
    for _ in range(5):
        assert 200 == box.call("GET", "/12/accounts", keys=BEARER).status_code

    assert (3, 2) == (traffic.report()["dropped"], traffic.report()["waiting"])


def test_without_shadow() -> None:
    """Without --shadow the report does not exist, and the answer says what to do."""
    answer = sandbox().client.get("/_mock/shadow")

    assert 404 == answer.status_code
    assert "--shadow URL" in answer.get_data(as_text=True)
