"""Pact files of a client's run, checked by the maintained verifier against other sandboxes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import requests
from click.testing import CliRunner
from requests_oauthlib import OAuth1
from werkzeug import Request, Response

from mock_platform import MockPlatform
from mock_platform.cli.main import group
from mock_platform.client.testing.webhook_receiver import WebhookReceiver
from tests.verification.compare.servers import Differing, Patch, differing, each, on, set_header
from tests.verification.har.support import make_entry
from tests.verification.pact.verifying import verify

pytestmark = pytest.mark.live
SECRET_KEYS = ("password", "access_token", "access_token_secret", "oauth2_access_token")
NEW_ITEM = {
    "product_type": "PROMOTED_POSTS", "placements": "ALL_ON_PLATFORM", "campaign_id": "8wku2",
    "objective": "WEBSITE_CLICKS", "bid_strategy": "AUTO",
}  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def _send_nothing() -> Iterator[None]:
    """The verifier reports its use to its makers unless this is set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PACT_DO_NOT_TRACK", "true")
        yield


def exercise(platform: MockPlatform) -> None:
    """What a client does: reads, writes that later reads see, failures, and both kinds of OAuth."""
    user, app = platform.session(auth="oauth1"), platform.session(auth="bearer")
    account = platform.credentials["accounts"][0]
    items = f"{platform.ads_base_url}/12/accounts/{account}/line_items"
    first = user.get(items, params={"count": 2}).json()["data"][0]["id"]
    user.put(f"{items}/{first}", params={"name": "Café & more"})
    user.get(f"{items}/{first}")
    user.get(f"{items}/nothing")
    user.get(f"{platform.ads_base_url}/12/accounts/{account}/campaigns/8wku2")
    made = user.post(items, params=NEW_ITEM)
    assert made.status_code == 200, made.text
    user.get(f"{items}/{made.json()['data']['id']}")
    user.delete(f"{items}/{made.json()['data']['id']}")
    user.delete(f"{items}/{made.json()['data']['id']}")
    app.post(f"{platform.base_url}/2/webhooks/replay", json={})
    platform.session(auth="oauth2").get(f"{platform.base_url}/2/users/me")
    platform.activate("usage-capped", period="Daily")
    now = platform.clock.now()
    window = {"from_date": f"{now - timedelta(hours=2):%Y%m%d%H%M}", "to_date": f"{now:%Y%m%d%H%M}"}
    refused = app.post(
        f"{platform.base_url}/2/webhooks/replay",
        json={"webhook_id": platform.credentials["webhook_id"], **window},
    )
    assert refused.status_code == 429
    app.get(f"{platform.base_url}/2/webhooks")
    platform.deactivate()
    held = platform.credentials["app"]
    keys = (held["consumer_key"], held["consumer_secret"])
    requests.post(
        f"{platform.base_url}/oauth2/token", data={"grant_type": "client_credentials"}, auth=keys
    )
    requests.post(
        f"{platform.base_url}/oauth/request_token", auth=OAuth1(*keys, callback_uri="oob")
    )
    requests.get(items)


class Recorded(NamedTuple):
    """The Pact file of a run, the archive of the same run, and what the command printed."""

    pact: dict[str, Any]
    archive: Path
    output: str


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A client's run, and a delivery to its webhook."""
    folder = tmp_path_factory.mktemp("pact")
    with MockPlatform.start() as platform:
        exercise(platform)
        held = platform.credentials
        with WebhookReceiver(held["app"]["consumer_secret"]) as receiver:
            platform.state["webhooks"].patch(held["webhook_id"], {"url": receiver.url})
            event = {"event_type": "profile.update.bio", "webhook_id": held["webhook_id"]}
            posted = requests.post(
                f"{platform.control_url}/events", json={**event, "payload": {"after": "Hello"}}
            )
            assert posted.json()["delivering"], posted.text
            receiver.wait(1)
        assert platform.wait_for_deliveries()
        archive = requests.get(f"{platform.control_url}/requests.har")
        (folder / "run.har").write_bytes(archive.content)
        done = write_pact("--url", platform.base_url, "--out", folder / "shop.json")
    assert done.exit_code == 0, done.output
    pact = json.loads((folder / "shop.json").read_text())
    return Recorded(pact, folder / "run.har", done.output)


def write_pact(*args: object) -> Any:
    """Runs `mock-platform pact` in this process."""
    words = ["pact", *map(str, args), "--consumer", "shop", "--provider", "platform"]
    return CliRunner().invoke(group, words, prog_name="mock-platform")


def test_the_file_is_verified_by_another_sandbox(recorded: Recorded, tmp_path: Path) -> None:
    """Every interaction, and the message, is as the file says, in any world of another server."""
    with MockPlatform.start() as platform:
        assert "" == verify(recorded.pact, platform.base_url, tmp_path)

    kinds = [each["type"] for each in recorded.pact["interactions"]]
    assert 16 == kinds.count("Synchronous/HTTP")
    assert 1 == kinds.count("Asynchronous/Messages")
    assert recorded.output.endswith(": 17 interactions, 0 requests left out.\n")


@pytest.fixture(scope="module")
def other() -> Iterator[Differing]:
    """Another sandbox, which each test changes in its way."""
    with differing() as server:
        yield server


def answer_otherwise(asked: Request, response: Response) -> None:
    """The list has another status."""
    if asked.path.endswith("/line_items"):
        response.status_code = 202


LIST = "/line_items"


@pytest.mark.parametrize(("patch", "said"), [
    (answer_otherwise, "expected 200 but was 202"),
    (on(LIST, each(lambda record: record.pop("campaign_id"))), "campaign_id"),
    (on(LIST, each(lambda record: record.update(deleted="no"))), "deleted"),
    (on(LIST, each(lambda record: record.update(entity_status="ASLEEP"))), "ASLEEP"),
    (on(LIST, each(lambda record: record.update(created_at="yesterday"))), "yesterday"),
    (on(LIST, each(lambda record: record.update(id=17))), "17"),
    (set_header(LIST, "Content-Type", None), "Content-Type"),
], ids=["status", "key", "type", "enumeration", "moment", "id", "header"])  # fmt: skip
def test_a_sandbox_that_differs_is_found(
    recorded: Recorded, other: Differing, tmp_path: Path, patch: Patch, said: str
) -> None:
    """A difference in what the client may rely on fails the verification, which names it."""
    other.patches = [patch]

    assert said in verify(recorded.pact, other.url, tmp_path, "line_items.list")


def test_no_difference(recorded: Recorded, other: Differing, tmp_path: Path) -> None:
    """Other texts, more keys and more records are no difference: the client cannot rely on them."""

    def change(body: Any) -> None:
        body["data"] = [record | {"name": "Other", "more": 1} for record in body["data"]] * 2

    other.patches = [on(LIST, change)]

    assert "" == verify(recorded.pact, other.url, tmp_path, "line_items.list")


def test_the_file_has_no_secrets(recorded: Recorded) -> None:
    """No credential of the run is in it; signatures come from provider states."""
    text = json.dumps(recorded.pact)
    with MockPlatform.start() as platform:
        held = platform.credentials
    secrets = [held["bearer_token"], held["app"]["consumer_secret"]]
    secrets += [held["user"][key] for key in SECRET_KEYS]

    assert [] == [secret for secret in secrets if secret in text]
    assert "oauth_signature=" not in text


DELIVERY = {
    "data": {"event_uuid": "u1", "filter": {"user_id": "77"}, "event_type": "post.create",
             "payload": {"id": "5", "text": "hello"}}
}  # fmt: skip


@pytest.fixture(scope="module")
def archived(recorded: Recorded, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The Pact file of the run's archive, as if another service had been asked: with other ids."""
    folder = tmp_path_factory.mktemp("archived")
    text = recorded.archive.read_text().replace("18ce54d4x5t", "9abc2").replace("itttx", "2zzz9")
    archive = json.loads(text.replace("8wku2", "3yyy8").replace("m2k8s", "f0f0f"))
    delivery = make_entry(
        method="POST", url="https://shop.example/hook", text="", status=200,
        posted={"mimeType": "application/json", "text": json.dumps(DELIVERY)},
    )  # fmt: skip
    archive["log"]["entries"].append(delivery)
    (folder / "service.har").write_text(json.dumps(archive))
    done = write_pact("--har", folder / "service.har", "--out", folder / "har.json")
    assert done.exit_code == 0, done.output
    return Recorded(json.loads((folder / "har.json").read_text()), folder, done.output)


def test_a_file_of_an_archive(recorded: Recorded, archived: Recorded, tmp_path: Path) -> None:
    """It has the same interactions; each is verified by itself, from the world's beginning."""
    with MockPlatform.start() as platform:
        assert "" == verify(archived.pact, platform.base_url, tmp_path)

    operations = [each["description"].split(":")[0] for each in archived.pact["interactions"]]
    assert operations == [
        *(e["description"].split(":")[0] for e in recorded.pact["interactions"] if "request" in e),
        "a webhook receives post.create",
    ]
    assert archived.output.endswith(": 17 interactions, 0 requests left out.\n")


def test_a_sandbox_unlike_an_archive(archived: Recorded, other: Differing, tmp_path: Path) -> None:
    """A record that a state brings is compared like all others."""
    other.patches = [on("/line_items/2zzz9", lambda body: body["data"].pop("campaign_id"))]

    assert "campaign_id" in verify(archived.pact, other.url, tmp_path, "line_items.get")


def test_nothing_to_write(tmp_path: Path) -> None:
    """Without a request nothing is written; a damaged archive is a usage error with its place."""
    (tmp_path / "bad.har").write_text('{"log": {"entries": [1]}}')
    with MockPlatform.start() as platform:
        empty = write_pact("--url", platform.base_url, "--out", tmp_path / "x.json")
    bad = write_pact("--har", tmp_path / "bad.har", "--out", tmp_path / "x.json")

    assert (1, True) == (empty.exit_code, "nothing was written" in empty.output)
    assert (2, True) == (bad.exit_code, "bad.har:1:" in bad.output)
    assert not (tmp_path / "x.json").exists()
