from __future__ import annotations

import hashlib
import json

import pytest

from mock_platform.control.console.answers import FOLDER, Assets
from tests.control.support import call, detail
from tests.support import Sandbox, sandbox


def test_files_from_elsewhere_are_unchanged() -> None:
    """Each file that others wrote is exactly the one that its record names."""
    sources = json.loads((FOLDER / "SOURCES.json").read_text("utf-8"))

    assert {"htmx.min.js"} == sources.keys()
    for name, source in sources.items():
        assert source["sha256"] == hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()
        assert source.keys() >= {"package", "version", "licence"}


@pytest.mark.parametrize("name", ["console.css", "console.js", "htmx.min.js", "icon.svg"])
def test_browsers_keep_files(box: Sandbox, name: str) -> None:
    """A file is served with its type, to be kept for ever: another content has another address."""
    answer = call(box, "GET", Assets().locate(name))

    assert 200 == answer.status_code
    assert (FOLDER / name).read_bytes() == answer.data
    assert "immutable" in answer.headers["Cache-Control"]
    assert "nosniff" == answer.headers["X-Content-Type-Options"]


@pytest.mark.parametrize("path", ["0/console.css", "0/nothing.css", "0/SOURCES.json"])
def test_unknown_files(box: Sandbox, path: str) -> None:
    """Another hash or another name is no file."""
    assert "no such file" in detail(call(box, "GET", f"/console/assets/{path}"), 404)


def test_the_files_need_no_token() -> None:
    """The login looks like the other pages."""
    box = sandbox(control_token="s3cret")

    assert 200 == call(box, "GET", Assets().locate("console.css")).status_code
