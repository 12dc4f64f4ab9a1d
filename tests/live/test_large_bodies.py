"""Large bodies at a server of its own: what it keeps of them."""

from __future__ import annotations

from pathlib import Path

import pytest
import requests

from tests.live.processes import serving
from tests.support import USER_TOKEN
from tests.waits import PATIENCE

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs the /proc of Linux"),
]
MEBIBYTE = 1024 * 1024


def measure_memory(pids: list[int]) -> int:
    """The bytes of memory that processes use."""
    found = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        found += next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) * 1024
    return found


def test_refused_bodies_do_not_stay_in_memory() -> None:
    """The journal keeps up to 16 MB of them, and nothing else does."""
    body = b'{"text":[' + b",".join([b"1234567"] * 80_000) + b',"' + b"a" * 3_000_000 + b'"]}'
    headers = {"Authorization": f"Bearer {USER_TOKEN}", "Content-Type": "application/json"}
    with serving("--journal-bytes", "16M") as served, requests.Session() as session:

        def send(times: int) -> int:
            for _ in range(times):
                answer = session.post(
                    f"{served.url}/2/posts", body, headers=headers, timeout=PATIENCE
                )
                assert 400 == answer.status_code
            return measure_memory(served.pids)

        begun = send(1)
        assert send(60) < begun + 200 * MEBIBYTE
