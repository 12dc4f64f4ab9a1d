"""The session of a case, as one test that passes, and fails where an answer differs."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from mock_platform import MockPlatform
from mock_platform.verification.cases.as_test import write_test
from mock_platform.verification.cases.document import read_case
from tests.commands import FEW_PLUGINS, python


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A case with three requests of a world whose name and texts need quotes."""
    with MockPlatform.start() as platform:
        world = platform.world("shop")
        session = world.session(auth="oauth1")
        made = session.post("/2/posts", json={"text": 'Hi "you" \\ ${1} é'}).json()
        session.get(f"/2/posts/{made['data']['id']}")
        session.get("/2/posts/search/recent?query=%22a%22+%5C+%24%7B1%7D")
        return world.save_case(tmp_path / "case.zip")


def test_pytest(case: Path) -> None:
    """It lists the requests, needs no other file, and passes."""
    text = write_test(read_case(case), "pytest")
    case.unlink()
    file = case.with_name("test_session.py")
    file.write_text(text)
    done = python("-m", "pytest", "-q", *FEW_PLUGINS.split(), str(file), cwd=case.parent)
    listed = next(each for each in ast.parse(text).body if isinstance(each, ast.Assign)).value
    assert isinstance(listed, ast.List)

    assert "1 passed" in done.stdout, done.stdout
    method, path, body, status = ast.literal_eval(listed.elts[0])
    assert ("POST", "/2/posts", 201) == (method, path, status)
    assert {"text": 'Hi "you" \\ ${1} é'} == json.loads(body)
    assert 3 == len(listed.elts)
    assert text.isascii()


def test_node_is_quoted(case: Path) -> None:
    """The text of the node test has the same list; no request ends a literal."""
    text = write_test(read_case(case), "node")

    assert '  ["POST", "/2/posts", "{' in text
    assert '"/2/posts/search/recent?query=%22a%22+%5C+%24%7B1%7D", "", 200],' in text
    assert text.isascii()
