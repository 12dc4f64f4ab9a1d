"""What a request of an asynchronous client in this process costs, beside one of requests.

Run it with `python benchmarks/asynchronous.py`. Microseconds of processor time, of client and
sandbox together. The kinds are measured in batches, one beside the other; the figures are medians,
and the ratio is the median of the ratios of batches that ran side by side.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Awaitable, Callable
from time import process_time

import httpx

from mock_platform import MockPlatform

PATH = "/12/accounts"
BATCH = 50
ROUNDS = 20

Batch = Callable[[], Awaitable[object]]


async def measure(batch: Batch) -> float:
    """Microseconds of processor time for one request of a batch."""
    begun = process_time()
    await batch()
    return (process_time() - begun) / BATCH * 1e6


def repeat(get: Callable[[str], Awaitable[httpx.Response]]) -> Batch:
    """A batch of an asynchronous client."""

    async def batch() -> None:
        for _ in range(BATCH):
            assert (await get(PATH)).status_code == 200

    return batch


async def compare(platform: MockPlatform) -> None:
    """Print the table."""
    session = platform.session("bearer")
    headers = {"Authorization": f"Bearer {platform.credentials['bearer_token']}"}
    base = {"base_url": platform.base_url, "headers": headers, "trust_env": False}

    async def of_requests() -> None:
        for _ in range(BATCH):
            assert session.get(PATH).status_code == 200

    async with (
        platform.async_client("bearer") as client,
        httpx.AsyncClient(transport=httpx.ASGITransport(platform.asgi), **base) as published,
        httpx.AsyncClient(**base) as over_socket,
    ):
        kinds = {
            "requests, session()": of_requests,
            "httpx, async_client()": repeat(client.get),
            "httpx, ASGITransport(asgi)": repeat(published.get),
            "httpx, over a socket": repeat(over_socket.get),
        }
        taken: dict[str, list[float]] = {name: [] for name in kinds}
        for _ in range(ROUNDS):
            for name, batch in kinds.items():
                taken[name].append(await measure(batch))
            platform.journal.clear()
    bases = taken["requests, session()"]
    for name, values in taken.items():
        ratio = statistics.median(own / base for own, base in zip(values, bases, strict=True))
        print(f"{name:28} {statistics.median(values):7.1f} us  x{ratio:5.2f}")


if __name__ == "__main__":
    with MockPlatform.start() as started:
        asyncio.run(compare(started))
