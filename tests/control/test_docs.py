from __future__ import annotations

import re
from importlib import resources

import pytest

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


def test_only_our_own_page_shows_the_assets(box: Sandbox) -> None:
    """The pages of Swagger UI itself, which run scripts of their own, are not served."""
    for name in ("", "index.html", "oauth2-redirect.html"):
        assert 404 == call(box, "GET", f"/docs/assets/{name}", buffered=True).status_code


def test_no_way_out_of_the_assets(box: Sandbox) -> None:
    """The assets' address serves the assets and nothing else."""
    inside = resources.files("flask_swagger_ui") / "flask_swagger_ui.py"

    assert inside.is_file()
    for path in ("../flask_swagger_ui.py", "%2e%2e/flask_swagger_ui.py", "/etc/passwd"):
        assert 404 == call(box, "GET", f"/docs/assets/{path}", buffered=True).status_code
