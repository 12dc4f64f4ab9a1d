"""How often a suite is green with eight pytest-xdist workers, on servers of their own and on one.

Run it with `python benchmarks/workers.py [TIMES]` (5 unless given). The suite makes whatever could
meet another worker's: scenarios, clocks, fixtures, records, sockets, late requests, deliveries.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from mock_platform import MockPlatform
from mock_platform.world.clock import UPTIME

_SUITE = """
import threading

import pytest
import requests

late = []


@pytest.mark.parametrize("number", range(40))
class TestWorlds:
    def test_records(self, mock_platform, number):
        session = mock_platform.session("oauth1")
        account = mock_platform.credentials["accounts"][0]
        cards = f"/12/accounts/{account}/cards/poll"
        asked = {"first_choice": "a", "second_choice": "b", "duration_in_minutes": 60}
        made = session.post(cards, params={"name": f"Card {number}", **asked}).json()["data"]["id"]
        names = [card["name"] for card in session.get(cards).json()["data"]]
        assert 1 == names.count(f"Card {number}")
        assert session.delete(f"{cards}/{made}").status_code == 200
        assert session.get(f"{cards}/{made}").status_code == 404
        assert 4 == len(mock_platform.journal)

    @pytest.mark.mock_clock("2026-03-01T12:00:00Z")
    def test_clock(self, mock_platform, number):
        assert mock_platform.clock.advance(hours=number).day == 1 + (12 + number) // 24

    @pytest.mark.mock_scenario("rate-limited", on="accounts.list", limit=2, window=60)
    def test_scenario(self, mock_platform, number):
        token = mock_platform.credentials["bearer_token"]
        url = mock_platform.base_url + "/12/accounts"
        headers = {"Authorization": f"Bearer {token}"}
        asked = [requests.get(url, headers=headers, timeout=30).status_code for _ in range(4)]
        assert [200, 200, 429, 429] == asked

    @pytest.mark.mock_fixtures("more")
    def test_fixtures(self, mock_platform, number):
        assert "nine" == mock_platform.state["users"].get("9")["screen_name"]
        mock_platform.state["users"].delete("9")

    def test_threads(self, mock_platform, number):
        seen = []

        def ask():
            session = mock_platform.session("bearer")
            seen.append(session.get("/12/accounts").status_code)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [200] * 4 == seen
        assert 4 == mock_platform.journal.count(operation="accounts.list", status=200)
"""


def run(folder: Path, *options: str) -> tuple[bool, float]:
    """Whether the suite was green with eight workers, and its seconds."""
    start = UPTIME()
    command = [sys.executable, "-m", "pytest", "-q", "-n", "8", "-p", "no:cacheprovider", *options]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode:
        print(ended.stdout[-1500:], ended.stderr[-1000:], sep="\n")
    return ended.returncode == 0, UPTIME() - start


def main(times: int) -> int:
    """Run the suite so often each way; 1 if it ever failed."""
    with TemporaryDirectory() as name, MockPlatform.start() as platform:
        folder = Path(name)
        folder.joinpath("test_it.py").write_text(_SUITE)
        folder.joinpath("more").mkdir()
        more = '[{"id": "9", "screen_name": "nine", "name": "N"}]'
        folder.joinpath("more", "users.json").write_text(more)
        print(f"{'200 tests with -n 8':<34}{'green':>10}{'seconds':>12}")
        failed = False
        for title, options in (
            ("a server for each worker", []),
            ("one server, a world for each", [f"--mock-platform-url={platform.base_url}"]),
        ):
            runs = [run(folder, *options) for _ in range(times)]
            green = sum(fine for fine, _ in runs)
            failed = failed or green < times
            seconds = statistics.median(taken for _, taken in runs)
            print(f"{title:<34}{f'{green}/{times}':>10}{seconds:>12.1f}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
