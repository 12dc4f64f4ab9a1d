"""Which tests a run begins with: the longest, each kind in one process.

Other processes take over tests of a kind only when they have none left. So one Chromium shows all
pages, no process waits for packages of npm that another one installs, and no long test is left for
the end, where it would keep one core busy and the other idle.
"""

from __future__ import annotations

import pytest

LANES: tuple[tuple[str, ...], ...] = (
    (
        "live/test_javascript_package.py",
        "live/test_for_javascript.py",
        "live/test_github_actions.py",
        "live/test_node_ads.py",
        "live/test_fit.py",
        "live/test_oauth_clients.py",
        "live/test_pages.py",
    ),
    (
        "browser/test_site.py",
        "browser/test_console_pages.py",
        "browser/test_console.py",
        "browser/test_state_pages.py",
        "browser/test_delivery_pages.py",
        "browser/test_appearance.py",
        "browser/test_trying.py",
        "browser/test_authorize.py",
        "browser/test_ten_tasks.py",
        "live/test_workers.py",
        "world/test_worlds_crash.py",
        "live/test_chaos.py",
        "test_kept_worlds.py",
    ),
    (
        "property/test_schemathesis.py",
        "live/test_adding.py",
        "live/test_for_qa.py",
        "live/test_activity_stream.py",
        "control/test_description.py",
        "property/test_uploads_model.py",
        "world/test_durable_crash.py",
        "world/store/test_snapshot_file.py",
        "scenario/test_properties.py",
    ),
)
"""Files of `tests/` whose tests take longest, those with most in common together."""


def arrange(items: list[pytest.Item], processes: int) -> None:
    """Put each lane at the beginning of what a process gets first: an equal share of all tests."""
    files = [[f"tests/{file}" for file in lane] for lane in LANES]
    places = {file: (number, place) for number, lane in enumerate(files)
              for place, file in enumerate(lane)}  # fmt: skip
    found: list[list[pytest.Item]] = [[] for _ in range(processes)]
    others = []
    for item in items:
        place = places.get(item.nodeid.partition("::")[0])
        if place is None:
            others.append(item)
        else:
            found[place[0] % processes].append(item)
    arranged: list[pytest.Item] = []
    for number, first in enumerate(found):
        first.sort(key=lambda item: places[item.nodeid.partition("::")[0]])
        share = (len(items) - len(arranged)) // (processes - number)
        rest = max(0, share - len(first))
        arranged += first + others[:rest]
        del others[:rest]
    items[:] = arranged + others
