"""What runs beside the workers of one server: the proxy of `--intercept`, and the shadow."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.live.processes import Served, quick, serving
from tests.live_servers import STORE
from tests.verification.compare.servers import Differing, differing, each, on
from tests.waits import PATIENCE

pytestmark = pytest.mark.live
LIST = "/12/accounts/18ce54d4x5t/line_items"
WORLDS = ("default", "one", "two", "three")


@pytest.fixture(scope="module")
def other() -> Iterator[Differing]:
    """The other service, whose line items have no name."""
    with differing(on("/line_items", each(lambda record: record.pop("name")))) as found:
        yield found


@pytest.fixture(scope="module")
def served(other: Differing) -> Iterator[Served]:
    """A server of two processes with a proxy, whose worlds live in both."""
    with serving("--workers", 2, "--intercept", "--shadow", other.url, command=quick) as found:
        for world in WORLDS[1:]:
            assert requests.put(f"{found.url}/_mock/worlds/{world}", timeout=PATIENCE).ok
        yield found
        assert 0 == found.stop()


def read_shadow(served: Served, compared: int) -> dict[str, Any]:
    """The report of the shadow, as soon as so many requests were compared."""
    until = time.monotonic() + PATIENCE
    with requests.Session() as session:
        while True:
            found: dict[str, Any] = session.get(f"{served.url}/_mock/shadow").json()
            if found["compared"] >= compared or time.monotonic() > until:
                return found


def test_the_proxy_and_the_shadow_of_all_workers(served: Served) -> None:
    """Each world is reached through the proxy, and one report has what all workers sent on."""
    worlds = requests.get(f"{served.url}/_mock/worlds", timeout=PATIENCE).json()["worlds"]
    held = requests.get(f"{served.url}/_mock/credentials", timeout=PATIENCE).json()
    bearer = f"Bearer {held['bearer_token']}"

    answers = [
        served.ask_platform(LIST, Authorization=bearer, **{"X-Mock-World": world})
        for world in WORLDS * 2
    ]

    # On an engine, a world lives in whichever process is asked first.
    assert STORE is not None or {"1", "2"} == {world["process"] for world in worlds}
    assert [200] * 8 == [answer.status_code for answer in answers]
    report = read_shadow(served, compared=8)
    found = report["findings"]
    assert {("missing", "data[].name")} == {(each["kind"], each["where"]) for each in found}
    assert 8 == sum(each["count"] for each in found)
    assert 8 == sum(len(each["occurrences"]) for each in found)
    assert (8, 0) == (report["compared"], report["failed"])


def test_another_host_is_refused(served: Served) -> None:
    """The proxy of a worker sends nothing elsewhere."""
    with pytest.raises(requests.exceptions.ProxyError):
        requests.get(
            "https://example.com/", proxies={"https": served.ready["proxy"]}, timeout=PATIENCE
        )
