"""Archives: refusals and the order of lists are compared too, whoever signed the requests how."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oauthlib.oauth1 import SIGNATURE_TYPE_QUERY, Client

from tests.support import ACCOUNT, BEARER, HARBOR, Keys, Sandbox
from tests.verification.compare.servers import Differing, known_credentials, on, shadowing
from tests.verification.compare.test_names import diff

pytestmark = pytest.mark.live
Change = Callable[[Any], None]
ITEMS = f"/12/accounts/{ACCOUNT}/line_items"
SORTED = f"{ITEMS}?sort_by=created_at-desc"
READS = (
    SORTED, f"{ITEMS}?count=x", f"{ITEMS}/zzzz", "/12/accounts/zz/line_items", "/2/users/abc",
    "/2/users/12345678999", "/2/posts", "/1.1/users/show?user_id=2244994945", "/2/users/me",
)  # fmt: skip


def sign_in_query(path: str) -> str:
    """An address whose query has the signature."""
    client = Client(
        HARBOR.key, HARBOR.secret, HARBOR.token, HARBOR.token_secret,
        signature_type=SIGNATURE_TYPE_QUERY,
    )  # fmt: skip
    return str(client.sign(f"http://localhost{path}")[0]).removeprefix("http://localhost")


def record(box: Sandbox, folder: Path, change: Change = lambda _: None) -> Path:
    """The archive of a sandbox, with the bodies of its answers changed."""
    archive = box.client.get("/_mock/requests.har").get_json()
    for entry in archive["log"]["entries"]:
        content = entry["response"]["content"]
        body = json.loads(content["text"])
        change(body)
        content["text"] = json.dumps(body)
    file = folder / "traffic.har"
    file.write_text(json.dumps(archive))
    return file


def replay(box: Sandbox, *paths: str, keys: Keys | str | None = HARBOR) -> Sandbox:
    """Ask a sandbox."""
    for path in paths:
        box.call("GET", path, keys=keys)
    return box


@pytest.mark.parametrize("way", ["header", "query", "bearer"])
def test_own_archive(box: Sandbox, tmp_path: Path, way: str) -> None:
    """What a sandbox recorded of itself differs in nothing, however the requests were signed."""
    if way == "query":
        replay(box, *map(sign_in_query, READS), keys=None)
    else:
        replay(box, *READS, keys=HARBOR if way == "header" else BEARER)

    status, found = diff(record(box, tmp_path))

    assert (0, []) == (status, [(each["where"], each["got"]) for each in found["findings"]])
    assert len(READS) == found["requests"]


def reword(body: Any) -> None:
    """Another text."""
    for error in body.get("errors", ()):
        error["message"] = "Something is wrong"


def recode(body: Any) -> None:
    """Another code."""
    for error in body.get("errors", ()):
        error["code"] = "WRONG"


def reverse(body: Any) -> None:
    """The wrong order."""
    if isinstance(body.get("data"), list):
        body["data"].reverse()


@pytest.mark.parametrize(("change", "path", "kind", "where"), [
    (reword, f"{ITEMS}?count=x", "wording", "errors[].message"),
    (recode, f"{ITEMS}?count=x", "code", "errors[].code"),
    (recode, f"{ITEMS}/zzzz", "code", "errors[].code"),
    (reverse, SORTED, "order", "data[].created_at"),
])  # fmt: skip
def test_refusal_or_order(
    box: Sandbox, tmp_path: Path, change: Change, path: str, kind: str, where: str
) -> None:
    """Other codes and texts of a refusal, and a list in the wrong order, are reported."""
    status, found = diff(record(replay(box, path), tmp_path, change))

    assert 1 == status
    assert (kind, where) in [(each["kind"], each["where"]) for each in found["findings"]]
    assert kind != "order" or "refuted" == found["assumptions"]["ads.sort-by"]
    assert "confirmed" != found["assumptions"].get("ads.error-envelope")


def test_an_order_without_the_sandbox(box: Sandbox, tmp_path: Path) -> None:
    """A page that only the other server can answer has its order checked as well."""
    first = box.call("GET", f"{SORTED}&count=1").get_json()["next_cursor"]
    box.call("GET", f"{SORTED}&cursor={first}")

    status, found = diff(record(box, tmp_path, reverse))

    assert 1 == status
    (order,) = [x for x in found["findings"] if x["kind"] == "order"]
    assert "data[].created_at" == order["where"]
    assert ["entry 1, line"] == [x["probe"][:13] for x in order["occurrences"]]


def test_shadow_tells_a_wrong_order(second: Differing) -> None:
    """A list in the wrong order is reported beside a running server as well."""
    second.patches.append(on("*", reverse))
    with shadowing(second) as (box, traffic):
        box.call("GET", SORTED, keys=BEARER)
    report = traffic.report()

    assert ("order", "data[].created_at") in [(x["kind"], x["where"]) for x in report["findings"]]
    assert "refuted" == report["assumptions"]["ads.sort-by"]


def test_shadow_signs_a_query_anew(second: Differing) -> None:
    """A signature in the query is replaced by one for the other address."""
    with shadowing(second, credentials=known_credentials()) as (box, traffic):
        assert 200 == box.call("GET", sign_in_query(SORTED), keys=None).status_code
    report = traffic.report()

    assert (1, []) == (report["compared"], report["findings"])


def as_json(file: Path) -> Path:
    """An archive in which problems are announced as any JSON."""
    file.write_text(file.read_text().replace("application/problem+json", "application/json"))
    return file


def test_problems_as_any_json(box: Sandbox, tmp_path: Path) -> None:
    """A problem that is announced as application/json is compared as the problem that it is."""
    replay(box, "/2/users/abc", "/2/users/12345678999")

    status, found = diff(as_json(record(box, tmp_path)))

    assert (1, ["media type"]) == (status, [each["kind"] for each in found["findings"]])
    assert {"confirmed"} == set(found["assumptions"].values())


def shorten_problem(body: Any) -> None:
    """A problem as the real service sends it: another host in its types, and nothing twice."""
    for each in (body, *body.get("errors", ())):
        if "/2/problems/" in each.get("type", ""):
            each["type"] = f"https://api.example.com/2/problems/{each['type'].rpartition('/')[2]}"
    for name in ("status", "value", "parameter", "resource_id", "resource_type"):
        body.pop(name, None)


def test_problems_as_json(box: Sandbox, tmp_path: Path) -> None:
    """A problem that is sent as plain JSON differs in its media type alone, and refutes nothing."""
    paths = ("/2/users/abc", "/2/users/12345678999", "/2/posts", "/2/posts/12345")
    replay(box, *paths, keys=BEARER)

    status, found = diff(as_json(record(box, tmp_path, shorten_problem)))

    (finding,) = found["findings"]
    assert 1 == status
    assert ("media type", "content-type") == (finding["kind"], finding["where"])
    assert "refuted" not in {each["verdict"] for each in finding["assumptions"]}
