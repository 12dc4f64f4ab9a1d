from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from werkzeug import Request, Response

from mock_platform.cli.comparing import make_shadow
from mock_platform.verification.compare.shadow import ShadowSettings, ShadowTraffic
from tests.support import ACCOUNT, BEARER, HARBOR, Sandbox, sandbox
from tests.verification.compare.servers import Differing, each, known_credentials, on

pytestmark = pytest.mark.live
LIST = f"/12/accounts/{ACCOUNT}/line_items"
IDLE_SECONDS = 60


@pytest.fixture(scope="module")
def running() -> Iterator[Differing]:
    """The other service: a second sandbox."""
    found = Differing()
    yield found
    found.close()


@pytest.fixture
def other(running: Differing) -> Differing:
    """The other service, as it was at first."""
    running.start_over()
    return running


def shadowed(other: Differing, **settings: Any) -> tuple[Sandbox, ShadowTraffic]:
    """A sandbox whose requests are sent to the other one."""
    box = sandbox()
    traffic = make_shadow(box.platform, ShadowSettings(other.url, **settings))
    traffic.start()
    return box, traffic


def test_reads_are_compared(other: Differing) -> None:
    """A read is sent after it was answered; its difference is in the journal and the report."""
    other.patches.append(on("/line_items", each(lambda record: record.pop("name"))))
    box, traffic = shadowed(other)
    answer = box.call("GET", LIST, keys=BEARER)
    box.call("DELETE", f"{LIST}/zz", keys=BEARER)

    assert traffic.wait_until_idle(IDLE_SECONDS)
    report = box.client.get("/_mock/shadow").get_json()
    entry = box.client.get(f"/_mock/requests/{answer.headers['X-Mock-Request-Id']}").get_json()
    traffic.stop()

    assert [("GET", LIST)] == other.asked
    assert {"sent": 1, "compared": 1, "not_sent": 1, "dropped": 0, "failed": 0} == {
        name: report[name] for name in ("sent", "compared", "not_sent", "dropped", "failed")
    }
    (finding,) = report["findings"]
    assert ("missing", "data[].name", 1) == (
        finding["kind"], finding["where"], finding["count"],
    )  # fmt: skip
    assert "missing" == entry["shadow"]["differences"][0]["kind"]
    assert BEARER not in json.dumps(report)


def test_what_opens_the_console_stays_here(other: Differing) -> None:
    """The other service gets the client's cookies without the console's, and no control token."""
    seen: list[Request] = []
    other.patches.append(lambda asked, _: seen.append(asked))
    box = sandbox(control_token="s3cret")
    traffic = make_shadow(box.platform, ShadowSettings(other.url))
    traffic.start()
    logged_in = box.client.post(
        "/_mock/console/login", data={"token": "s3cret"}, headers={"Origin": "http://localhost"}
    )
    cookie = logged_in.headers["Set-Cookie"].partition(";")[0]
    assert cookie.startswith("mock_platform_console=")
    box.client.set_cookie("own", "1")
    sent = {"X-Mock-Control-Token": "s3cret", "Authorization": f"Bearer {BEARER}"}
    box.client.get(LIST, headers=sent)
    box.client.get(LIST, headers={"Authorization": "Bearer s3cret"})

    assert traffic.wait_until_idle(IDLE_SECONDS)
    traffic.stop()

    assert ["own=1"] * 2 == [asked.headers["Cookie"] for asked in seen]
    assert {f"Bearer {BEARER}", None} == {asked.headers.get("Authorization") for asked in seen}
    assert "s3cret" not in "".join(str(asked.headers) for asked in seen)


def test_writes_and_credentials(other: Differing) -> None:
    """Writes are sent if wanted, with their body, and signed for the other address."""
    box, traffic = shadowed(other, writes=True, credentials=known_credentials())
    form = {"entity_status": "PAUSED"}
    line_item = box.call("GET", LIST).get_json()["data"][0]["id"]
    box.call("PUT", f"{LIST}/{line_item}", form=form)

    assert traffic.wait_until_idle(IDLE_SECONDS)
    report = traffic.report()
    traffic.stop()

    assert {("GET", LIST), ("PUT", f"{LIST}/{line_item}")} == set(other.asked)
    assert (2, []) == (report["compared"], report["findings"])
    stored = other.platform.worlds.default.store.get("line_items", line_item)
    assert stored is not None
    assert "PAUSED" == stored["entity_status"]


def test_a_signature_for_another_address(other: Differing) -> None:
    """Without credentials of its own a signed request is refused there, which is no difference."""
    box, traffic = shadowed(other)
    box.call("GET", LIST, keys=HARBOR)

    assert traffic.wait_until_idle(IDLE_SECONDS)
    report = traffic.report()
    traffic.stop()

    assert (1, 0, []) == (report["failed"], report["compared"], report["findings"])
    assert "--shadow-credentials" in report["last_fault"]


def test_redirects_and_an_unreachable_service(other: Differing) -> None:
    """A redirect is a difference and not followed; a service that does not answer is a fault."""

    def redirect(asked: Request, response: Response) -> None:
        response.status_code = 302
        response.headers["Location"] = "http://127.0.0.1:9/"

    other.patches.append(redirect)
    box, traffic = shadowed(other)
    box.call("GET", "/12/accounts", keys=BEARER)
    assert traffic.wait_until_idle(IDLE_SECONDS)
    found = traffic.report()["findings"]
    traffic.stop()
    gone, silent = sandbox(), ShadowSettings("http://127.0.0.1:9")
    failing = make_shadow(gone.platform, silent)
    failing.start()
    gone.call("GET", "/12/accounts", keys=BEARER)
    assert failing.wait_until_idle(IDLE_SECONDS)
    failing.stop()

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
