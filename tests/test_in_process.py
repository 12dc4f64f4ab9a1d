"""Requests in this process arrive as those of Flask's test client."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import EnvironBuilder

from tests.support import FORM, sandbox

TOKEN = {"Authorization": "Bearer a%2Fb"}


@pytest.mark.parametrize(("target", "more"), [
    ("/2/users", {}),
    ("/12/accounts?count=1&q=a%20b+c&empty=", {"headers": TOKEN}),
    ("/~w1/2/users/by/username/%C3%A9%2F%FF;a=b", {"headers": [("X-Mock-World", "w")]}),
    ("/2/posts", {"json": {"text": "gr\u00fc\u00dfe", "a": [1, None]}}),
    ("/2/posts", {"json": {}, "headers": {"content-type": "text/plain"}}),
    ("/2/posts", {"data": "{", "content_type": "application/json; charset=utf-8"}),
    ("/2/posts", {"data": b"\xff\x00", "headers": None}),
    ("/oauth/request_token", {"data": "a=b", "headers": {"Content-Type": FORM}}),
    ("/oauth/request_token", {"data": "", "headers": {"Content-Type": FORM}}),
])  # fmt: skip
def test_an_environment_is_that_of_the_client(target: str, more: dict[str, Any]) -> None:
    """Target, headers and body are written the same way."""
    box = sandbox()
    builder = EnvironBuilder(
        box.app, target, method="POST", environ_base=box.client.environ_base, **more
    )
    expected = builder.get_environ()

    made = box.client.make_environ(target, method="POST", **more)

    assert made is not None
    assert expected.pop("wsgi.input").read() == made.pop("wsgi.input").read()
    assert expected == made


@pytest.mark.parametrize(("target", "more"), [
    ("//2/users", {}),
    ("/2/users?", {}),
    ("/2/users#a", {}),
    ("/2/\u00fc", {}),
    ("/2/a b", {}),
    ("/2/users", {"headers": {"cookie": "a=b"}}),
    ("/2/users", {"headers": [("X-A", "a"), ("x-a", "b")]}),
    ("/2/users", {"headers": {"host": "example.com"}}),
    ("/2/users", {"headers": {"X-A": "a\nb"}}),
    ("/2/users", {"base_url": "https://localhost"}),
    ("/2/media/upload", {"data": {"media": "x"}}),
    ("/2/media/upload", {"data": "x", "content_type": "multipart/form-data"}),
])  # fmt: skip
def test_what_is_out_of_the_ordinary_is_left_to_the_client(
    target: str, more: dict[str, Any]
) -> None:
    """Odd characters, cookies, other hosts and files."""
    box = sandbox()

    assert box.client.make_environ(target, method="POST", **more) is None
