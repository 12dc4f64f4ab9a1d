"""Multipart forms are read into their parts."""

from __future__ import annotations

import pytest
from werkzeug.test import encode_multipart

from mock_platform.core.decode import read_parts
from mock_platform.core.failures.errors import BadBody

TYPE = "multipart/form-data; boundary=cut"


def make_part(name: str, content: bytes) -> bytes:
    """A part of a form."""
    head = f'--cut\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
    return head.encode() + content + b"\r\n"


@pytest.mark.parametrize(
    "content", [b"", b"\r\n", b"a--cut", b"\r\n--cu", bytes(range(256)) * 300, b"a\rb\nc"]
)
def test_content_is_kept(content: bytes) -> None:
    """The content of a part comes out as it went in, byte by byte."""
    body = make_part("a", b"1") + make_part("b", content) + b"--cut--\r\n"

    assert [("a", b"1"), ("b", content)] == read_parts(body, TYPE)


def test_form_of_a_client() -> None:
    """A form that a library has written is read."""
    boundary, body = encode_multipart({"command": "APPEND", "segment_index": "0"})

    parts = read_parts(body, f"multipart/form-data; boundary={boundary}")

    assert [("command", b"APPEND"), ("segment_index", b"0")] == parts


@pytest.mark.parametrize(("number", "accepted"), [(100, True), (101, False)])
def test_number_of_parts(number: int, accepted: bool) -> None:
    """A form has at most 100 parts."""
    body = make_part("a", b"1") * number + b"--cut--\r\n"

    if accepted:
        assert number == len(read_parts(body, TYPE))
    else:
        with pytest.raises(BadBody, match="more than 100 parts"):
            read_parts(body, TYPE)


@pytest.mark.parametrize(("body", "content_type", "text"), [
    (b"--cut--\r\n", "multipart/form-data", "needs a boundary"),
    (b"", TYPE, "not a complete multipart form"),
    (b"{}", TYPE, "not a complete multipart form"),
    (make_part("a", b"1"), TYPE, "not a complete multipart form"),
    (b"--cut\r\nContent-Disposition: form-data\r\n\r\n1\r\n--cut--", TYPE, "has no name"),
])  # fmt: skip
def test_broken_forms(body: bytes, content_type: str, text: str) -> None:
    """What is not a whole form is refused."""
    with pytest.raises(BadBody, match=text):
        read_parts(body, content_type)
