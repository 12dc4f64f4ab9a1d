"""Records of another server: keys that their table does not know are kept only when asked for."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from mock_platform.api.ads.cards.records import CARDS
from mock_platform.api.served import TABLES
from mock_platform.api.v2.media.records import MEDIA_LIBRARY
from mock_platform.cli.checking import check_files
from mock_platform.cli.command import CheckFailed
from mock_platform.core.documents.forms import FaultReport
from mock_platform.core.errors import Complaint
from mock_platform.core.tables import fixtures
from mock_platform.core.tables.table import AS, RECORDED
from mock_platform.scenario.effects.set_records import KIND
from tests.support import ACCOUNT, Sandbox, sandbox

CARD = "1712860000001000003"
LINE_ITEM = "itttx"
BASE = f"/12/accounts/{ACCOUNT}"
STATE = f"/_mock/state/line_items/{LINE_ITEM}"
MARK = {AS: RECORDED}


def card_with(box: Sandbox, **destination: Any) -> dict[str, Any]:
    """A shipped card whose destination has more keys."""
    card = json.loads(json.dumps(box.record("cards", CARD)))
    card["components"][1]["destination"] |= destination
    return dict(card)


def test_unknown_keys_are_refused_with_the_nearest(box: Sandbox) -> None:
    """At any depth, and before anything is stored."""
    card = card_with(box, ulr="https://harbor.example")
    top = box.client.patch(STATE, json={"godl": "x"})
    deep = box.client.put(f"/_mock/state/cards/{CARD}", json=card)

    assert [422, 422] == [top.status_code, deep.status_code]
    assert "'godl' is no field of line_items. Did you mean 'goal'?" in top.get_json()["detail"]
    (fault,) = deep.get_json()["faults"]
    assert "components[1].destination.ulr" == fault["field"]
    assert "Did you mean 'url'? Its fields: type, url, country_code" in fault["message"]


def test_recorded_keys_are_kept_and_served(box: Sandbox) -> None:
    """PUT and PATCH with ?as=recorded take what the table does not know, and warn of it."""
    record = box.record("line_items", LINE_ITEM) | {"tracking_tags": [{"id": "1"}]}
    plain = box.client.put(f"{STATE}?as=recorded", json=box.record("line_items", LINE_ITEM))
    put = box.client.put(f"{STATE}?as=recorded", json=record)
    patched = box.client.patch(f"{STATE}?as=recorded", json={"cost_cap": 5})
    again = box.client.patch(STATE, json={"name": "Renamed"})
    read = box.call("GET", f"{BASE}/line_items/{LINE_ITEM}").get_json()["data"]
    listed = box.call("GET", f"{BASE}/line_items?line_item_ids={LINE_ITEM}").get_json()["data"]
    changed = box.call("PUT", f"{BASE}/line_items/{LINE_ITEM}?name=x").get_json()["data"]
    kept = box.client.patch(STATE, json={"cost_cap": 5})
    misspelt = box.client.patch(STATE, json={"nmae": "x", "cost_cap": 6})

    assert 200 == kept.status_code
    assert (422, ["nmae"]) == (
        misspelt.status_code,
        [fault["field"] for fault in misspelt.get_json()["faults"]],
    )
    answers = (plain, put, patched, again)
    assert [200] * 4 == [response.status_code for response in answers]
    assert [None, *["recorded-keys"] * 3] == [r.headers.get("X-Mock-Warnings") for r in answers]
    for served in (read, *listed, changed):
        assert ([{"id": "1"}], 5) == (served["tracking_tags"], served["cost_cap"])
        assert AS not in served


def test_recorded_keys_deep_in_a_record(box: Sandbox) -> None:
    """Keys of parts are kept at their place; defaults and rules apply as usual."""
    card = card_with(box, tracking="x", utm={"a": [1]})
    put = box.client.put(f"/_mock/state/cards/{CARD}?as=recorded", json=card)
    read = box.call("GET", f"{BASE}/cards/{CARD}").get_json()["data"]
    broken = card_with(box, tracking="x", type="APP")
    refused = box.client.put(f"/_mock/state/cards/{CARD}?as=recorded", json=broken)

    assert 200 == put.status_code, put.text
    assert card["components"] == read["components"]
    assert 422 == refused.status_code
    named = {fault["field"] for fault in refused.get_json()["faults"]}
    assert "components[1].destination.url" in named
    assert "components[1].destination.tracking" not in named


def test_a_whole_world_as_recorded(box: Sandbox) -> None:
    """?as=recorded marks the records that need it; a dump of them loads without it."""
    document = box.client.get("/_mock/state").get_json()
    document["tables"]["line_items"][0]["tracking_tags"] = []
    refused = box.client.put("/_mock/state", json=document)
    taken = box.client.put("/_mock/state?as=recorded", json=document)
    again = box.client.put("/_mock/state", json=taken.get_json())

    assert [422, 200, 200] == [r.status_code for r in (refused, taken, again)]
    first, second, *_ = again.get_json()["tables"]["line_items"]
    assert (RECORDED, None) == (first.get(AS), second.get(AS))


@pytest.mark.parametrize(
    ("query", "status"), [("as=Recorded", 400), ("as=", 422), ("sa=recorded", 400)]
)
def test_what_the_query_may_say(box: Sandbox, query: str, status: int) -> None:
    """Only the one word is accepted; nothing is kept by accident."""
    response = box.client.patch(f"{STATE}?{query}", json={"tracking_tags": []})

    assert status == response.status_code


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({AS: "recordde"}, AS),
        ({AS: None, "tracking": 1}, AS),
        ({AS: RECORDED, "_acount_id": "1"}, "_acount_id"),
        ({AS: RECORDED, "tracking": 1, "media_status": "DONE"}, "media_status"),
        ({"tracking": 1}, "tracking"),
    ],
)
def test_what_a_mark_does_not_allow(box: Sandbox, changes: dict[str, Any], field: str) -> None:
    """Keys of the mock's own, other marks and values that none can have stay refused."""
    (media, *_) = box.client.get("/_mock/state/media_library").get_json()["records"]

    assert field in [name for name, _ in MEDIA_LIBRARY.load(media | changes)[1]]


def test_fixture_files(tmp_path: Path, box: Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    """A record of a file says it by itself; each kept key is warned of with its place."""
    card = card_with(box, tracking="x") | MARK | {"preview": True}
    (tmp_path / "cards.json").write_text(json.dumps([card], indent=1))
    warnings: list[str] = []

    def warn(complaint: Complaint) -> None:
        warnings.append(str(complaint).replace(str(tmp_path), ""))

    fixtures.check([tmp_path], [CARDS], warn)
    with caplog.at_level(logging.WARNING):
        loaded = sandbox(fixtures=(tmp_path,))
    read = loaded.call("GET", f"{BASE}/cards/{CARD}").get_json()["data"]

    lines = (tmp_path / "cards.json").read_text().splitlines()
    spots = {
        name: next(i for i, t in enumerate(lines, 1) if f'"{name}"' in t)
        for name in ("tracking", "preview")
    }
    assert [
        f"/cards.json:{spots['preview']}:3: record 0, field preview: warning: cards does not know "
        "'preview', which is kept as recorded",
        f"/cards.json:{spots['tracking']}:6: record 0, field components[1].destination.tracking: "
        "warning: cards does not know 'components[1].destination.tracking', which is kept as "
        "recorded",
    ] == warnings
    assert len(caplog.records) == 2
    assert (True, "x") == (read["preview"], read["components"][1]["destination"]["tracking"])


def test_check_prints_warnings_and_is_content(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command names kept keys on standard error, as no fault."""
    user = {"id": "1", "screen_name": "ada", "name": "Ada", "mood": "calm"}
    (tmp_path / "users.json").write_text(json.dumps([user | MARK]))
    check_files([tmp_path], default_fixtures=False)
    kept = capsys.readouterr()
    (tmp_path / "users.json").write_text(json.dumps([user]))
    with pytest.raises(CheckFailed):
        check_files([tmp_path], default_fixtures=False)

    assert "users.json:1:51: record 0, field mood: warning: users does not know" in kept.err
    assert kept.out == ""
    assert "'mood' is no field of users" in capsys.readouterr().out


def test_a_scenario_sets_recorded_keys() -> None:
    """`set` accepts a record that says so, and refuses unknown keys of others."""

    def complain(merge: dict[str, Any]) -> list[str]:
        report = FaultReport()
        check = KIND.cross_check
        assert check is not None
        check({"set": {"line_items/itttx": merge}}, (), report)
        return [text for _, text in report.faults]

    assert [] == complain({"tracking": 1} | MARK)
    assert complain({"tracking": 1})
    assert complain({AS: "x"})


def test_no_field_is_called_as_the_mark() -> None:
    """The mark is no field of any table."""
    assert not [table.name for table in TABLES if AS in table.fields]
