"""httpx, in the process of the tests and over a socket: both see the same world."""

import httpx
import pytest


@pytest.fixture
def bearer(mock_platform):
    """The header of the well-known bearer token."""
    return {"Authorization": f"Bearer {mock_platform.credentials['bearer_token']}"}


@pytest.fixture
def inside(mock_platform, bearer):
    """A client that calls the sandbox as a function: quickest, but no connection can break."""
    transport = httpx.WSGITransport(app=mock_platform.wsgi)
    with httpx.Client(
        transport=transport, base_url=mock_platform.ads_base_url, headers=bearer
    ) as client:
        yield client


@pytest.fixture
def outside(mock_platform, bearer):
    """A client with a connection to the same world."""
    with httpx.Client(
        base_url=mock_platform.ads_base_url, headers=bearer, trust_env=False
    ) as client:
        yield client


@pytest.fixture
def line_items(mock_platform):
    """The path of the line items of the user's first account."""
    return f"/12/accounts/{mock_platform.credentials['accounts'][0]}/line_items"


def all_ids(client, path):
    """What a client reads, two at a time."""
    query, found = {"count": 2}, []
    while True:
        page = client.get(path, params=query).raise_for_status().json()
        found += [item["id"] for item in page["data"]]
        if page["next_cursor"] is None:
            return found
        query["cursor"] = page["next_cursor"]


def test_pages_are_read_to_the_end(inside, line_items, mock_platform):
    """Every line item comes once, and the journal holds one request for each page."""
    found = all_ids(inside, line_items)

    assert len(found) == len(set(found)) == 9
    assert mock_platform.journal.count(operation="line_items.list", status=200) == 5


def test_both_clients_see_the_same_world(inside, outside, line_items):
    """What one deletes, the other one finds no more."""
    item = f"{line_items}/{all_ids(inside, line_items)[0]}"

    assert inside.delete(item).json()["data"]["deleted"] is True
    assert outside.get(item).status_code == 404


@pytest.mark.mock_scenario("flaky-network", failures=2)
def test_the_third_attempt_gets_through(outside, line_items):
    """A connection that breaks is an exception of httpx's own."""
    for _ in range(2):
        with pytest.raises(httpx.TransportError):
            outside.get(line_items)

    assert outside.get(line_items).is_success


@pytest.mark.mock_scenario("rate-limited", limit=1, window=60)
def test_a_limit_ends_with_its_window(inside, line_items, mock_platform):
    """The sandbox's clock is moved; no test waits, and the real clock does not change."""
    assert inside.get(line_items).headers["x-rate-limit-remaining"] == "0"
    assert inside.get(line_items).status_code == 429

    mock_platform.clock.advance(seconds=60)

    assert inside.get(line_items).is_success
