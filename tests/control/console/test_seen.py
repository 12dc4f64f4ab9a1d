from __future__ import annotations

from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from mock_platform.scenario.document import loads
from tests.control.console.support import OWN
from tests.control.support import call
from tests.support import BEARER, Sandbox, sandbox

LIST = "/12/accounts/18ce54d4x5t/account_media"


@pytest.fixture
def box() -> Sandbox:
    """A sandbox whose first request is `r1`."""
    return sandbox()


def act(box: Sandbox, action: str, **form: str) -> TestResponse:
    """Press a button of the form for the first request of the journal."""
    fields = {"action": action, **form}
    return call(box, "POST", "/console/requests/r1/scenario", form=fields, headers=OWN)


def test_download(box: Sandbox) -> None:
    """The file is a scenario that answers such requests, and no others, as was seen."""
    seen = box.call("GET", f"{LIST}?count=0")

    file = act(box, "download", name="bad-count", match="query.count")

    assert 'filename="bad-count.yaml"' in file.headers["Content-Disposition"]
    box.world.reset()
    scenario = loads(file.data, box.platform.library.catalog)
    assert 200 == call(box, "PUT", "/scenarios/bad-count", json=scenario.document).status_code
    call(box, "POST", "/scenarios/bad-count/activate", json={})
    again = box.call("GET", f"{LIST}?count=0", keys=None)
    other = box.call("GET", f"{LIST}?count=1")
    assert (400, seen.get_json()) == (again.status_code, again.get_json())
    assert 200 == other.status_code


def test_what_is_matched_at_first(box: Sandbox) -> None:
    """Path and query say which request it is; cursors, bodies and credentials do not."""
    box.call("GET", f"{LIST}?count=2&cursor=abc&oauth_token=x")

    text = call(box, "GET", "/console/requests/r1/scenario").text

    assert 'value="path.account_id" checked' in text
    assert 'value="query.count" checked' in text
    assert 'value="query.cursor">' in text
    assert "query.oauth_token" not in text


def test_bodies(box: Sandbox) -> None:
    """A value of a JSON body can be matched."""
    box.call("POST", "/2/webhooks/replay", keys=BEARER, json={"webhook_id": "$x", "n": {"a": 1}})

    file = act(box, "download", name="replay", match="json.webhook_id")

    scenario = loads(file.data, box.platform.library.catalog)
    assert {"json": {"webhook_id": "$$x"}} == scenario.document["rules"][0]["when"]


def test_unknown_paths(box: Sandbox) -> None:
    """A path that no operation serves becomes one that the scenario serves."""
    box.call("GET", "/2/shops/7", keys=None)

    file = act(box, "download", name="shops")

    scenario = loads(file.data, box.platform.library.catalog)
    assert "GET /2/shops/7" == scenario.document["rules"][0]["on"]
    assert 404 == scenario.document["rules"][0]["then"]["respond"]["status"]


def test_defined_in_the_world(box: Sandbox) -> None:
    """Added to the world, it can be switched on at once."""
    box.call("GET", LIST)

    answer = act(box, "define", name="seen-media")

    assert 303 == answer.status_code
    names = [each["name"] for each in call(box, "GET", "/scenarios").get_json()["scenarios"]]
    assert "seen-media" in names


def test_faults(box: Sandbox) -> None:
    """A name that no scenario can have is explained beside the field, and nothing happens."""
    box.call("GET", LIST)

    for action in ("download", "define", "save", "preview"):
        answer = act(box, action, name="../Evil")
        assert 422 == answer.status_code, action
        assert 'aria-invalid="true"' in answer.text
    assert 422 == act(box, "destroy", name="x").status_code


def test_save_without_a_folder(box: Sandbox) -> None:
    """Without a folder the page says how to give one."""
    box.call("GET", LIST)

    answer = act(box, "save", name="seen")

    assert 409 == answer.status_code
    assert "--scenario FOLDER" in answer.text


def test_save(tmp_path: Path) -> None:
    """With a folder the file is saved there, and is not replaced unasked."""
    (tmp_path / "other.yaml").write_text(
        "name: other\nrules:\n  - on: line_items.list\n    then: {delay: 2s}\n"
    )
    box = sandbox(scenarios=(str(tmp_path),))
    box.call("GET", LIST)

    first = act(box, "save", name="seen")
    second = act(box, "save", name="seen")
    third = act(box, "save", name="seen", replace="on")

    assert [303, 409, 303] == [each.status_code for each in (first, second, third)]
    assert {"other.yaml", "seen.yaml"} == {each.name for each in tmp_path.iterdir()}


def test_foreign_forms(box: Sandbox) -> None:
    """Other pages save nothing."""
    box.call("GET", LIST)
    path, form = "/console/requests/r1/scenario", {"action": "define"}

    assert 403 == call(box, "POST", path, form=form).status_code


@pytest.mark.parametrize("path", [LIST, "/2/webhooks"])
def test_every_suggestion_is_valid(box: Sandbox, path: str) -> None:
    """What the page suggests has no faults."""
    box.call("GET", path)

    assert 'role="alert"' not in call(box, "GET", "/console/requests/r1/scenario").text
