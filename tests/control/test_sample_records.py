from __future__ import annotations

import json
import re
from html import unescape

import pytest

from mock_platform.control import operation_pages
from mock_platform.control.examples import Sample
from mock_platform.control.operation_pages import make_example
from mock_platform.core.jsonio import dumps, loads
from tests.shells import open_shell, read_words
from tests.support import Sandbox, sandbox

ACCOUNT, OWN_ACCOUNT = "18ce54d4x5t", "18ce54own5t"
RENAMED = {
    ACCOUNT: OWN_ACCOUNT,
    "8wku2": "8own2",
    "m2k8s": "m2own",
    "iuj2q": "iown2",
    "2244994945": "2244994000",
    "northbike_co": "lanes_co",
    "1146654567674912769": "1146654567674912000",
    "1991600000000000203": "1991600000000000999",
}
HOSTILE = "x';touch${IFS}made;echo '\"$(touch made)[1-9]\x1b&a=b\\"
"""What a fixture, an archive or the control plane may bring as an id or a token."""


@pytest.fixture(scope="module")
def box() -> Sandbox:
    """A sandbox with the world `own`, whose records have other ids."""
    box = sandbox()
    records = re.sub(
        "|".join(RENAMED), lambda found: RENAMED[found[0]], box.client.get("/_mock/state").text
    )
    box.client.put("/_mock/worlds/own")
    answer = box.client.put("/~own/_mock/state", json=loads(records.encode()))
    assert 200 == answer.status_code, answer.text
    return box


@pytest.mark.parametrize(
    "name",
    [
        "accounts.get",
        "campaigns.create",
        "line_items.list",
        "promoted_accounts.create",
        "scheduled_posts.update",
        "users.show",
        "webhooks.replay",
        "dm_conversations.send",
    ],
)
def test_an_example_names_records_of_its_world(box: Sandbox, name: str) -> None:
    """It works in a world with other records, and has a record of the same kind and state."""
    world = box.platform.worlds.get("own")
    operation = next(each for each in box.platform.operations if each.id == name)
    example = make_example(operation, world)
    assert example is not None

    answer = box.client.open(
        "/~own" + example.path,
        method=example.method,
        headers=dict(example.headers),
        data=example.body,
    )

    assert answer.status_code < 300, answer.text
    assert not any(old in f"{example.path} {example.body}" for old in RENAMED)


def test_no_example_without_records(box: Sandbox) -> None:
    """Where a world has no record of a table, the page says so, and keeps no foreign id."""
    box.client.put("/_mock/worlds/empty")
    world = box.platform.worlds.get("empty")
    for key in [entry.key for entry in world.store.page("campaigns")]:
        box.client.delete(f"/~empty/_mock/state/campaigns/{key}")
    operation = next(each for each in box.platform.operations if each.id == "campaigns.get")

    assert make_example(operation, world) is None
    page = box.client.get("/~empty/_mock/console/operations/campaigns.get")
    assert "This world has no record, or no token, for an example" in page.text


def test_interactive_documentation_of_a_world(box: Sandbox) -> None:
    """The first click there sends ids of the world as well."""
    document = box.client.get("/~own/_mock/docs/openapi.json").get_data()

    assert ACCOUNT.encode() not in dumps(loads(document)["paths"])
    assert OWN_ACCOUNT.encode() in document


def test_no_copied_example_runs_what_a_record_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both pages of each operation show one call of curl, whose words are those of the example."""
    # Which scenarios concern an operation takes most of the time of its pages.
    monkeypatch.setattr(operation_pages, "find_provocations", lambda *_: iter(()))
    monkeypatch.setattr(operation_pages, "find_naming_scenarios", lambda _: {})
    box = sandbox()
    state = box.client.get("/_mock/state").text
    token = box.client.get("/_mock/credentials").get_json()["bearer_token"]
    for name in (*RENAMED, "hwtq0", "pt4vx", token):
        state = state.replace(f'"{name}"', json.dumps(name + HOSTILE))
    answer = box.client.put("/_mock/state?unchecked=true", json=loads(state.encode()))
    assert 200 == answer.status_code, answer.text
    examples: list[Sample] = []
    commands: list[str] = []

    for operation in box.platform.operations:
        example = make_example(operation, box.world)
        if example is None:
            continue
        text = box.client.get(f"/_mock/operations/{operation.id}.txt").text
        page = box.client.get(f"/_mock/console/operations/{operation.id}").text
        shown = unescape(page.partition('<pre id="curl" tabindex="0">')[2].partition("</pre>")[0])
        assert f"\n{shown}\n" in text
        examples.append(example)
        commands.append(shown)
    with open_shell() as shell:
        pasted = shell.paste_all(commands)

    for example, (words, piped) in zip(examples, pasted, strict=True):
        headers = [f"{name}: {value}" for name, value in example.headers.items()]
        url = f"http://localhost{example.path}"
        assert (example.method, url, headers, example.body) == read_words(words, piped)
        if example.headers.get("Content-Type") == "application/json":
            assert example.body is not None
            json.loads(example.body)
    assert 100 < sum("touch" in f"{example}" for example in examples)
    assert 200 == box.client.get("/_mock/docs/openapi.json").status_code
