from __future__ import annotations

import re
from importlib import resources
from typing import Any

import pytest

from mock_platform.control.docs import SIGNED, list_authorizations
from tests.control.support import call
from tests.support import Sandbox


@pytest.mark.parametrize("prefix", ["", "/~default", "/~w1"])
def test_page(box: Sandbox, prefix: str) -> None:
    """The page shows the description under the world's own address, from assets served here."""
    box.platform.worlds.create("w1")

    answer = box.call("GET", f"{prefix}/_mock/docs/", keys=None)

    assert 200 == answer.status_code
    assert f'url: "http://localhost{prefix}/_mock/docs/openapi.json?part=platform"' in answer.text
    addresses = re.findall(r'(?:src|href)="([^"]+)"', answer.text)
    assert addresses
    for address in addresses:
        assert address.startswith(f"http://localhost{prefix}/_mock/")
        path = address.removeprefix("http://localhost")
        assert 200 == box.call("GET", path, keys=None, buffered=True).status_code


def test_address_without_slash(box: Sandbox) -> None:
    """The address without a slash at its end leads to the page, in the same world."""
    answer = box.call("GET", "/~default/_mock/docs", keys=None)

    assert 308 == answer.status_code
    assert "http://localhost/~default/_mock/docs/" == answer.headers["Location"]


def test_policy(box: Sandbox) -> None:
    """The browser loads nothing from elsewhere and runs only the page's own script."""
    first, second = (call(box, "GET", "/docs/") for _ in range(2))
    policy = first.headers["Content-Security-Policy"]
    found = re.search(r"'nonce-([^']+)'", policy)
    assert found is not None

    assert f'<script nonce="{found[1]}">' in first.text
    assert policy != second.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert not re.search(r"https?:|\*", policy)


def test_every_answer_has_a_policy(box: Sandbox) -> None:
    """Pages, their files, data, refusals and redirections: nothing is loaded from elsewhere."""
    page = call(box, "GET", "/docs/").text
    files = [each.partition("/_mock")[2] for each in re.findall(r'(?:src|href)="([^"]+)"', page)]
    files += re.findall(r'="/_mock(/console/assets/[^"]+)"', call(box, "GET", "/").text)
    assert len(files) >= 8
    paths = ["", "/docs", "/coverage?format=html", "/openapi.json", "/nothing", "/clock"]

    for path in (*files, *paths, "/docs/assets/index.html", "/docs/assets/none.js"):
        policy = call(box, "GET", path, buffered=True).headers.get("Content-Security-Policy", "")
        assert "default-src 'none'" in policy, path
        assert "frame-ancestors 'none'" in policy, path


@pytest.mark.parametrize(
    "path",
    ["", "index.html", "oauth2-redirect.html", "../flask_swagger_ui.py",
     "%2e%2e/flask_swagger_ui.py", "/etc/passwd"],
)  # fmt: skip
def test_no_way_out_of_the_assets(box: Sandbox, path: str) -> None:
    """Neither what lies beside them, nor the pages of Swagger UI itself, which run scripts."""
    assert (resources.files("flask_swagger_ui") / "flask_swagger_ui.py").is_file()
    assert 404 == call(box, "GET", f"/docs/assets/{path}", buffered=True).status_code


def test_an_asset_may_have_a_query(box: Sandbox) -> None:
    """Whoever adds a version to its address gets the same file."""
    paths = ("/docs/assets/swagger-ui.css", "/docs/assets/swagger-ui.css?v=2")
    plain, versioned = (call(box, "GET", path, buffered=True) for path in paths)
    assert (200, plain.data) == (versioned.status_code, versioned.data)


def _read(box: Sandbox, query: str = "", world: str = "") -> Any:
    answer = call(box, "GET", f"/docs/openapi.json{query}", world)
    assert 200 == answer.status_code, answer.text
    return answer.get_json()


def test_the_control_plane_is_apart(box: Sandbox) -> None:
    """The platform has none of its routes, and it has none of the platform's operations."""
    platform, control = _read(box), _read(box, "?part=control")

    assert not [path for path in platform["paths"] if path.startswith("/_mock")]
    assert not [path for path in control["paths"] if not path.startswith("/_mock")]
    assert ["control"] == [tag["name"] for tag in control["tags"]]
    whole = call(box, "GET", "/openapi.json").get_json()["tags"]
    assert [tag for tag in whole if tag["name"] != "control"] == platform["tags"]


def test_required_places_have_values_of_the_records(box: Sandbox) -> None:
    """In the path, the query and the body."""
    paths = _read(box)["paths"]

    account = paths["/12/accounts/{account_id}"]["get"]
    assert {"account_id": "18ce54d4x5t"} == {
        each["name"]: each["example"] for each in account["parameters"] if "example" in each
    }
    replay = paths["/2/webhooks/replay"]["post"]["requestBody"]["content"]["application/json"]
    assert "1146654567674912769" == replay["example"]["webhook_id"]
    assert replay["example"]["from_date"].isdecimal()


def test_each_operation_leads_to_its_page(box: Sandbox) -> None:
    """Under the address of the world, and the page is there."""
    box.platform.worlds.create("tried")
    paths = _read(box, world="tried")["paths"]

    links = {entry["externalDocs"]["url"] for item in paths.values() for entry in item.values()}
    assert "http://localhost/~tried/_mock/console/operations/webhooks.replay" in links
    ids = {link.rpartition("/")[2] for link in links}
    assert ids == {operation.id for operation in box.platform.operations}


def test_the_served_description_has_no_examples(box: Sandbox) -> None:
    """What programs read does not depend on the records."""
    entry = call(box, "GET", "/openapi.json").get_json()["paths"]["/12/accounts/{account_id}"]

    assert [] == [each for each in entry["get"]["parameters"] if "example" in each]


def test_another_part_is_refused(box: Sandbox) -> None:
    """With the parts that there are."""
    answer = call(box, "GET", "/docs/openapi.json?part=x")

    assert 400 == answer.status_code
    assert "platform" in answer.text


def test_tags_are_in_the_order_of_the_documents(box: Sandbox) -> None:
    """Document A first, each family where its section is; what no document shows comes after."""
    tags = [tag["name"] for tag in _read(box)["tags"]]

    documented = [
        "webhooks", "oauth", "oauth2", "product_catalogs", "product_sets", "insights",
        "tailored_audiences", "custom_audiences", "do_not_reach_lists", "account_media", "cards",
        "media_library", "cards_poll", "cards_video_conversation", "post", "accounts",
        "line_items", "line_item_curated_categories",
    ]  # fmt: skip
    assert documented == [tag for tag in tags if tag in documented]
    assert ["webhooks", "oauth", "oauth2"] == tags[:3]
    assert tags.index("line_item_curated_categories") < tags.index("campaigns")


def test_an_operation_leads_to_its_scenarios(box: Sandbox) -> None:
    """Each is a link to its page in the console."""
    replay = _read(box)["paths"]["/2/webhooks/replay"]["post"]

    link = "(http://localhost/_mock/console/scenarios/replay-conflict)"
    assert f"[replay-conflict]{link}" in replay["description"]


def test_the_page_has_the_keys_to_sign_with(box: Sandbox) -> None:
    """Those of the app, and of the app with its user, under the placeholders that they replace."""
    signing = list_authorizations(box.world)["signing"]

    user, app = signing[SIGNED["oauth1"]], signing[SIGNED["oauth1-app"]]
    assert {"consumer_key", "consumer_secret", "token", "token_secret"} == set(user)
    assert {name: user[name] for name in app} == app
    page = call(box, "GET", "/docs/").text
    assert user["token_secret"] in page
    assert SIGNED["oauth1"] in page
