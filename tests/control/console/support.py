"""What the tests of the console share: forms as a browser sends them, and what a page says."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import unquote

from werkzeug.test import TestResponse

from tests.control.support import call
from tests.support import FORM, Sandbox

OWN = {"Origin": "http://localhost", "Content-Type": FORM}
"""Headers of a form that a page of the console sends."""


def show(box: Sandbox, path: str, world: str = "", *, status: int = 200) -> str:
    """The text of a page, its markup left out."""
    return text_of(call(box, "GET", path, world), status)


def submit(box: Sandbox, path: str, world: str = "", **form: str) -> TestResponse:
    """Send a form."""
    return call(box, "POST", path, world, form=form, headers=OWN)


def done(answer: TestResponse) -> str:
    """What the page after a form says; the form must have been accepted."""
    assert 303 == answer.status_code, text_of(answer, answer.status_code)
    cookie = answer.headers.get("Set-Cookie", "")
    found = re.search(r"mock_platform_said=([^;]*)", cookie)
    return "" if found is None else unquote(found[1].strip('"').replace("%25", "%"))


def refused(answer: TestResponse, status: int) -> str:
    """What the page says that was shown instead."""
    return text_of(answer, status)


def text_of(answer: TestResponse, status: int) -> str:
    """The text of an answer with this status."""
    assert status == answer.status_code, answer.text
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", answer.text)))
