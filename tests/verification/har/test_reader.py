"""Archives are read as browsers, proxies and the sandbox write them; damaged ones are refused."""

from __future__ import annotations

import base64
import gzip
import json
import os
import tracemalloc
import zipfile
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mock_platform.verification.har import reader as progress
from mock_platform.verification.har.exchange import BadHar, HarExchange
from mock_platform.verification.har.reader import read_har, show_progress
from tests.verification.har.support import make_entry, read_one, write_har, write_text


def test_an_exchange(tmp_path: Path) -> None:
    """Everything that an entry says is in the exchange, with its place in the file."""
    text = json.dumps(
        {"log": {"version": "1.2", "entries": [make_entry(), make_entry()]}}, indent=1
    )

    first, second = read_har(write_text(tmp_path, text))

    assert ("GET", "api.example.com", "/12/accounts", "count=1") == (
        first.request.method, first.request.host, first.request.path, first.request.query,
    )  # fmt: skip
    assert (200, "OK", b'{"a":1}', True) == (
        first.response.status, first.response.reason, first.response.body, first.response.is_whole,
    )  # fmt: skip
    assert datetime(2026, 3, 1, 12, tzinfo=UTC) == first.started
    assert (2.5, {"send": 0, "wait": 2.5, "receive": 0}) == (first.milliseconds, first.timings)
    assert (1, "{") == (second.place.entry, text[second.place.offset])
    assert text[: second.place.offset].count("\n") + 1 == second.place.line


FILES = Path(__file__).parent / "files"


@pytest.mark.parametrize(
    ("name", "statuses"), [("chromium", [200, 200, 403, 404]), ("mitmproxy", [200, 200, 403, 403])]
)
def test_archives_of_programs(name: str, statuses: list[int]) -> None:
    """What Chromium (by Playwright) and mitmproxy wrote about a sandbox is read as it was."""
    found = list(read_har(FILES / f"{name}.har"))

    assert statuses == [each.response.status for each in found]
    assert {"127.0.0.1"} == {each.request.host for each in found}
    accounts = json.loads(found[0].response.body)
    assert ["18ce54d4x5t", "18ce55fw2ag"] == [each["id"] for each in accounts["data"]]
    assert all(each.request.header("authorization") for each in found)
    if name == "chromium":  # it does not keep bodies that no script has read
        assert [True, True, False, False] == [each.response.is_whole for each in found]
    else:
        assert b'name="media"; filename="hostname"' in found[3].request.body


def test_other_keys_come_first(tmp_path: Path) -> None:
    """The entries are found wherever they are, also behind values of every kind."""
    log = {"comment": 'a "]}" \\', "pages": [[{}], -1.5e3, None, True], "entries": [make_entry()]}
    text = json.dumps({"_x": [[]], "log": log, "_y": {"entries": 1}})

    assert 1 == len(list(read_har(write_text(tmp_path, b"\xef\xbb\xbf" + text.encode()))))


def test_entries_larger_than_a_piece(tmp_path: Path) -> None:
    """Entries and strings may be of any size below the limit, whatever the pieces of the file."""
    texts = ["x" * size + '\\"' * (size // 3) for size in (10, 300_000, 1, 700_000)]

    found = read_har(write_har(tmp_path, *(make_entry(text=text) for text in texts)))

    assert texts == [each.response.body.decode() for each in found]


def test_memory_is_bounded(tmp_path: Path) -> None:
    """An archive of 9 MB takes little more memory than its largest entry."""
    entry = json.dumps(make_entry(text="x" * 30_000))
    file = write_text(tmp_path, f'{{"log":{{"entries":[{",".join([entry] * 300)}]}}}}')
    tracemalloc.start()

    count = sum(1 for _ in read_har(file))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert 300 == count
    assert most < 3 * 1024**2


@pytest.mark.parametrize("how", ["gz", "zhar", "zip"])
def test_packed(tmp_path: Path, how: str) -> None:
    """Archives packed as by gzip, mitmproxy or Playwright are read; cut ones are refused."""
    text = json.dumps({"log": {"entries": [make_entry(content={"_file": "a.json"})] * 50}}).encode()
    file = tmp_path / f"traffic.{how}"
    if how == "zip":
        with zipfile.ZipFile(file, "w") as packed:
            packed.writestr("har.har", text)
            packed.writestr("a.json", b"{}")
    else:
        file.write_bytes(gzip.compress(text) if how == "gz" else zlib.compress(text))

    bodies = {(each.response.body, each.response.is_whole) for each in read_har(file)}

    assert {(b"{}", True) if how == "zip" else (b"", False)} == bodies
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(BadHar, match=r"damaged or cut off|cannot be read"):
        list(read_har(file))


def test_only_attached_files_are_read(tmp_path: Path) -> None:
    """A body in a file beside the archive, named after a hash; neither links nor other files."""
    folder, secret = tmp_path / "inner", tmp_path / f"{'5' * 40}.json"
    attached, link, pipe = (f"{digit * 40}.json" for digit in "123")
    (folder / "below").mkdir(parents=True)
    others = ("id_rsa", ".env", "settings.json", f"below/{attached}")
    for path in (secret, *(folder / name for name in others)):
        path.write_text("secret")
    (folder / attached).write_text("{}")
    (folder / link).symlink_to(secret)
    os.mkfifo(folder / pipe)
    refused = [*others, link, pipe, "below", f"../{secret.name}", str(secret), f"./{attached}", 7]
    entries = [make_entry(content={"_file": name}) for name in (attached, *refused)]
    entries += [
        make_entry(method="POST", posted={"mimeType": "text/plain", "_file": name}, text="")
        for name in refused
    ]

    first, *rest = read_har(write_har(folder, *entries))

    assert b"{}" == first.response.body
    assert 2 * len(refused) == len(rest)
    for each in rest:
        assert not each.response.body
        assert not each.request.body
        assert "is missing or too large, or not named as an attached file" in each.notes[0]


@pytest.mark.parametrize(("changes", "body"), [
    ({"content": {"text": base64.b64encode(b"\x00\xff").decode(), "encoding": "base64"}},
     b"\x00\xff"),
    ({"content": {"text": base64.b64encode(gzip.compress(b"{}")).decode(),
                  "encoding": "base64"},
      "headers": [{"name": "Content-Encoding", "value": "gzip"}]}, b"{}"),
    ({"content": {"text": "{}"}, "headers": [{"name": "content-encoding", "value": "br"}]},
     b"{}"),
    ({"text": "é\ud83d"}, "é?".encode()),
    ({"content": {"size": 0}}, b""),
])  # fmt: skip
def test_bodies(tmp_path: Path, changes: dict[str, Any], body: bytes) -> None:
    """Bodies come decoded, whatever the program did to them."""
    assert body == read_one(tmp_path, **changes).response.body


def test_bodies_that_are_not_whole(tmp_path: Path) -> None:
    """An exchange says that its body is missing or was cut."""
    cut = {"size": 500_000, "text": "{", "comment": "cut after 262,144 of 500,000 bytes"}
    for content in ({"size": 70}, cut):
        found = read_one(tmp_path, content=content)

        assert not found.response.is_whole
        assert found.notes


@pytest.mark.parametrize(("posted", "body"), [
    ({"mimeType": "application/json", "text": '{"a":1}'}, b'{"a":1}'),
    ({"text": "AP8=", "_encoding": "base64"}, b"\x00\xff"),
    ({"mimeType": "application/x-www-form-urlencoded",
      "params": [{"name": "a b", "value": "1&"}]}, b"a+b=1%26"),
    ({"mimeType": "multipart/form-data; boundary=zz",
      "params": [{"name": "a", "value": "1"}]},
     b'--zz\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--zz--\r\n'),
])  # fmt: skip
def test_bodies_of_requests(tmp_path: Path, posted: dict[str, Any], body: bytes) -> None:
    """A request's body is its text, or made of the fields that the archive lists."""
    assert body == read_one(tmp_path, posted=posted).request.body


def test_headers(tmp_path: Path) -> None:
    """Pseudo headers of HTTP/2 are left out, and joined ones are separated."""
    headers = [{"name": ":status", "value": "200"}, {"name": "set-cookie", "value": "a=1\nb=2"}]

    found = read_one(tmp_path, headers=headers).response

    assert (("set-cookie", "a=1"), ("set-cookie", "b=2")) == found.headers


def test_no_response(tmp_path: Path) -> None:
    """An exchange whose response never came has status 0."""
    assert 0 == read_one(tmp_path, status=-1, content={}).response.status


WHOLE = json.dumps({"log": {"entries": [make_entry(), make_entry()]}})


@pytest.mark.parametrize(("text", "fault"), [
    ("", ":1: the file is empty (byte 0)"),
    ("hello", "expected an object with `log`"),
    ("[]", "expected an object with `log`"),
    ("{}", "no list `log.entries`: this is JSON, but no HTTP archive"),
    ('{"log":[]}', "expected `log` as an object"),
    ('{"log":{"entries":{}}}', "expected `log.entries` as a list"),
    ('{"log":{"entries":[],"entries":[]}}', "a second list `log.entries`"),
    ('{"log":{"entries":[7]}}', "entry 0 must be an object, not 7"),
    ('{"log":{"entries":[{}]}}', "entry 0: request: is missing"),
    ('{"log":{"entries":[{"a":nul}]}}', "entry 0 is not JSON"),
    ('{"log":{"entries":[{"a":NaN}]}}', "entry 0 is not JSON"),
    ('{"log":{"entries":[]}} x', "expected the end of the file"),
    ('{"log":{"entries":[] "a":1}}', "expected a comma or }"),
    ("\ufeff".encode("utf-16"), "encoded as UTF-16"),
    (WHOLE[:-9], "cut off; 1 entries before it could be read"),
    (WHOLE[:-1], "the file ends too early: it is cut off; 2 entries"),
    (b'{"log":{"entries":[' + b"[" * 5000, "nested more than 100 levels deep"),
    (b'{"log":{"entries":[{"a":"' + b"x" * 5_000_000, "a value of more than 4 MB"),
    (b'{"log":{"entries":[' + b"7" * 5_000_000, "a value of more than 4 MB"),
    (b'{"log":{"entries":[\x00]}}', "entry 0 is not JSON"),
], ids=lambda value: value[:40] if isinstance(value, str) else "bytes")  # fmt: skip
def test_refused_files(tmp_path: Path, text: str | bytes, fault: str) -> None:
    """Whatever is no archive, or damaged, is refused with the place and what is wrong."""
    with pytest.raises(BadHar) as refused:
        list(read_har(write_text(tmp_path, text), 4 * 1024**2))

    assert fault in str(refused.value)
    assert f"{tmp_path / 'traffic.har'}:1: " in str(refused.value)


@pytest.mark.parametrize(("changes", "fault"), [
    ({"content": {"text": "!!", "encoding": "base64"}},
     "response.content.text: not base64, as its encoding claims"),
    ({"content": {"text": "{}", "encoding": "rot13"}},
     "response.content.encoding: 'rot13' is unknown; allowed: base64"),
    ({"content": {"text": base64.b64encode(b"\x1f\x8bnonsense").decode(), "encoding": "base64"},
      "headers": [{"name": "Content-Encoding", "value": "gzip"}]},
     "response.content.text: not gzip, as the header Content-Encoding claims"),
    ({"content": {"text": base64.b64encode(gzip.compress(bytes(5_000_000))).decode(),
                  "encoding": "base64"},
      "headers": [{"name": "Content-Encoding", "value": "gzip"}]},
     "response.content.text: unpacks to more than 4 MB"),
    ({"content": {"text": 7}}, "response.content.text: must be a string, not 7"),
    ({"content": {"size": -7}}, "response.content.size: must be a number of bytes, or -1"),
    ({"content": []}, "response.content: must be an object"),
    ({"headers": {}}, "response.headers: must be a list"),
    ({"headers": [{"value": "x"}]}, "response.headers[0]: must have a name and a value"),
    ({"status": "200"}, "response.status: must be a status"),
    ({"method": ""}, "request.method: is missing"),
    ({"url": "/12/accounts"}, "request.url: must be a whole address, not '/12/accounts'"),
    ({"url": "https://[bad/12"}, "request.url: is no address (Invalid IPv6 URL): 'https://["),
    ({"url": "https://a.example:99x/"}, "request.url: is no address (Port could not be cast"),
    ({"url": "https://a.example/?q=\ud8ff"}, "request.url: must not have half a character"),
    ({"method": "G E T"}, "request.method: must be one word such as GET, not 'G E T'"),
    ({"posted": {"params": [7]}}, "request.postData.params: each must be an object"),
], ids=range(17))  # fmt: skip
def test_refused_entries(tmp_path: Path, changes: dict[str, Any], fault: str) -> None:
    """An entry that cannot be true is refused with its number and the field."""
    file = write_har(tmp_path, make_entry(), make_entry(**changes))
    found: list[HarExchange] = []

    with pytest.raises(BadHar) as refused:
        found.extend(read_har(file, 4 * 1024**2))

    assert f"entry 1: {fault}" in str(refused.value)
    assert 1 == refused.value.place.entry


def test_missing_file(tmp_path: Path) -> None:
    """A file that does not exist is the error of the system."""
    with pytest.raises(FileNotFoundError):
        list(read_har(tmp_path / "none.har"))


def test_lines_by_number_and_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line comes after so many exchanges, and after so many bytes of a few large ones."""
    file = write_har(tmp_path, *[make_entry(text="1")] * 5, *[make_entry(text="x" * 5000)] * 3)
    monkeypatch.setattr(progress, "_EXCHANGES", 4)
    monkeypatch.setattr(progress, "_BYTES", 4000)
    said: list[str] = []

    found = list(show_progress(read_har(file), said.append))

    assert 8 == len(found)
    assert ["4", "7", "8"] == [line.split()[0] for line in said]
    assert "4 exchanges read, 0 MB …" == said[0]
