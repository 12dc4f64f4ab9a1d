"""Archives that are written have no secret, in no spelling, and are whole, private and readable."""

from __future__ import annotations

import base64
import json
import os
import re
import threading
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from hashlib import sha1
from pathlib import Path
from time import process_time
from typing import Any
from urllib.parse import quote, quote_plus, unquote, unquote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mock_platform.api.served import OPERATIONS
from mock_platform.verification.har.reader import read_har
from mock_platform.verification.har.writer import HarFile, RecordedExchange, Secrets, make_entry
from mock_platform.world import redact

SECRET = "s3cr3t/Vx9+Lm4=%2FtR8wYc3"
JSON, FORM = ("Content-Type", "application/json"), (
    "Content-Type", "application/x-www-form-urlencoded",
)  # fmt: skip
MULTIPART = ("Content-Type", "multipart/form-data; boundary=b")


def exchange(**parts: Any) -> RecordedExchange:
    """An exchange with these parts."""
    values: dict[str, Any] = {
        "started": datetime(2026, 3, 1, tzinfo=UTC), "milliseconds": 1.0, "method": "POST",
        "url": "https://api.example.com/2/things?a=1", "request_headers": [], "request_body": b"",
        "status": 200, "reason": None, "response_headers": [], "response_body": b"",
    }  # fmt: skip
    return RecordedExchange(**(values | parts))


def show(entry: Any) -> str:
    """Everything that can be read in an entry: its texts, decoded as often as anyone could."""
    texts = [json.dumps(entry), str(entry)]
    parts = (entry["request"].get("postData", {}), entry["response"]["content"])
    encoded = [part for part in parts if part.get("encoding", part.get("_encoding")) == "base64"]
    texts += [base64.b64decode(part["text"]).decode("latin-1") for part in encoded]
    for found in re.findall(r"[A-Za-z0-9+/=]{16,}", texts[0]):
        try:
            texts.append(base64.b64decode(found).decode("latin-1"))
        except ValueError:
            continue
    for _ in range(4):
        texts += [unquote(texts[-1]), unquote_plus(texts[-1])]
        texts.append(re.sub(r"\\+u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), texts[-1]))
    return "\n".join(texts)


QUOTED = quote(SECRET, safe="")
ESCAPED = "".join(f"\\u{ord(each):04x}" for each in SECRET)
PLACES: dict[str, dict[str, Any]] = {
    "bearer": {"request_headers": [("Authorization", f"Bearer {SECRET}")]},
    "proxy": {"request_headers": [("Proxy-Authorization", f"Bearer {SECRET}")]},
    "cookie without a name": {"request_headers": [("Cookie", SECRET)]},
    "set-cookie": {"response_headers": [("Set-Cookie", f"session={SECRET}; Path=/")]},
    "location": {"response_headers": [("Location", f"http://c/?state=1&oauth_verifier={QUOTED}")]},
    "fragment": {"response_headers": [("Location", f"http://c/#access_token={QUOTED}")]},
    "referer": {"request_headers": [("Referer", f"http://c/?oauth_token={QUOTED}")]},
    "password in an address": {"url": f"https://me:{QUOTED}@h/x"},
    "address with a password in the query": {
        "url": "https://h/x?next=" + quote(f"http://me:{QUOTED}@c/", safe="")},
    "address with a password in JSON": {
        "request_headers": [JSON],
        "request_body": json.dumps({"feed_url": f"http://me:{QUOTED}@c/"}).encode()},
    "JSON with escapes": {"request_headers": [JSON],
                          "request_body": f'{{"passw\\u006frd":"{ESCAPED}"}}'.encode()},
    "bytes": {"request_headers": [MULTIPART], "request_body": (
        f'--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n{SECRET}\xff\r\n--b--'
    ).encode("latin-1")},
    "answer": {"response_headers": [JSON],
               "response_body": json.dumps({"token_type": "b", "access_token": SECRET}).encode()},
    "JSON in an answer": {"response_headers": [JSON], "response_body": json.dumps(
        {"log": json.dumps({"deep": [{"access_token": SECRET}]})}).encode()},
    "form as answer": {"response_body": f"oauth_token={QUOTED}&oauth_token_secret=x".encode()},
}  # fmt: skip
"""Places beside those of `SPELLED`, in which a secret has any name."""


@pytest.mark.parametrize("secrets", [lambda: None, Secrets], ids=["by name", "by value"])
@pytest.mark.parametrize("place", PLACES)
def test_no_place_shows_a_secret(place: str, secrets: Callable[[], Secrets | None]) -> None:
    """In headers, cookies, addresses, forms, JSON and files, with and without placeholders."""
    entry = make_entry(exchange(**PLACES[place]), 10_000, secrets())

    assert SECRET not in show(entry)
    assert "[redacted" in show(entry)


@pytest.mark.parametrize("spelled", [
    SECRET, QUOTED, re.sub("%..", lambda m: m[0].lower(), QUOTED), quote_plus(SECRET),
    quote(QUOTED), ESCAPED, f"&#0;&#9999999;{quote(QUOTED)}",
    "".join(f"%{ord(each):02X}" for each in SECRET), json.dumps({"a": SECRET}),
    json.dumps(json.dumps({"a": SECRET})), "".join(f"&#{ord(each)};" for each in SECRET),
    SECRET.replace("/", "\\/"),
])  # fmt: skip
def test_a_known_secret_is_found_wherever_it_is_repeated(spelled: str) -> None:
    """What was in a header once is replaced in every text, in every spelling, in later entries."""
    secrets = Secrets()
    make_entry(exchange(request_headers=[("Authorization", f"Bearer {SECRET}")]), 999, secrets)

    entry = make_entry(exchange(response_body=f"You sent «{spelled}».".encode()), 999, secrets)

    assert SECRET not in show(entry)
    assert "[redacted-1]" in entry["response"]["content"]["text"]


@pytest.mark.parametrize(("kind", "body"), [
    (MULTIPART, f'--b\r\nContent-Disposition: form-data; name="pin"\r\n\r\n{SECRET}\r\n--b--'),
    (JSON, '{"access_token": ' + json.dumps(SECRET) + ', "expi'),
    (("Content-Type", "text/html"), f'<input name="authenticity_token" value="{SECRET}">'),
], ids=["field of a multipart form", "JSON that was cut", "hidden field of a page"])  # fmt: skip
def test_what_the_journal_finds_is_learned(kind: tuple[str, str], body: str) -> None:
    """Wherever the journal hides a secret, an archive knows it from there on."""
    secrets = Secrets()
    make_entry(exchange(response_headers=[kind], response_body=body.encode()), 9999, secrets)

    assert "[redacted-1]" == secrets.hide(SECRET)


NAMES = st.sampled_from(redact.SECRET_NAMES)
SPELLINGS: list[Callable[[list[str]], str]] = [
    "_".join, "-".join, "__".join,
    lambda words: "_".join(words).upper(),
    lambda words: "-".join(word.title() for word in words),
    lambda words: words[0] + "".join(word.title() for word in words[1:]),
]  # fmt: skip
SPLIT = {"password": ["pass", "word"], "passphrase": ["pass", "phrase"], "oauth": ["o", "auth"]}
VALUES = st.sampled_from(
    ["s3cretValue", SECRET, "correct horse battery 9", 'it\'s "me" again 7', "pä55wörter"]
)


@st.composite
def spelled_secrets(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A secret, and an exchange that has it under a name of a secret, in some spelling."""
    words = draw(NAMES).split("_")
    if draw(st.booleans()):
        words = [part for word in words for part in SPLIT.get(word, [word])]
    name = draw(st.sampled_from(["", "_", "X-", "MOCK_PLATFORM_"]))
    name += draw(st.sampled_from(SPELLINGS))(words) + draw(st.sampled_from(["", "_"]))
    secret = draw(VALUES)
    quoted = quote(secret, safe="")
    # A server would read a name with an encoded letter too.
    encoded = f"%{ord(name[0]):02X}{name[1:]}" if draw(st.booleans()) else name
    place = draw(st.sampled_from(sorted(SPELLED)))
    return secret, SPELLED[place](name, encoded, secret, quoted)


SPELLED: dict[str, Callable[[str, str, str, str], dict[str, Any]]] = {
    "query": lambda _, name, __, quoted: {"url": f"http://h/x?a=1&{name}={quoted}&b=2"},
    "address in a query": lambda _, name, __, quoted: {
        "url": "http://h/x?next=" + quote(f"http://c/?{name}={quoted}&z=1", safe="")},
    "fragment": lambda _, name, __, quoted: {
        "request_headers": [("Referer", f"http://c/?a=1#{name}={quoted}")]},
    "OAuth": lambda _, name, __, quoted: {
        "request_headers": [("Authorization", f'OAuth oauth_nonce="n", {name}="{quoted}"')]},
    "header": lambda name, _, __, quoted: {"request_headers": [(name.replace("_", "-"), quoted)]},
    "cookie": lambda name, _, __, quoted: {
        "request_headers": [("Cookie", f"a=1; {name}={quoted}")]},
    "basic": lambda _, __, secret, ___: {"request_headers": [
        ("Authorization", "Basic " + base64.b64encode(f"k:{secret}".encode()).decode())]},
    "form": lambda _, name, secret, __: {
        "request_headers": [FORM], "request_body": f"a=1&{name}={quote_plus(secret)}".encode()},
    "form without a type": lambda name, _, secret, __: {
        "request_body": f"{name}={secret}".encode()},
    "JSON": lambda name, _, secret, __: {
        "request_headers": [JSON], "request_body": json.dumps({"a": [{name: secret}]}).encode()},
    "padded name": lambda name, _, secret, __: {
        "request_headers": [JSON], "request_body": json.dumps({f" {name} ": secret}).encode()},
    "JSON in JSON": lambda name, _, secret, __: {
        "request_headers": [JSON],
        "request_body": json.dumps({"a": json.dumps({name: secret})}).encode()},
    "form in JSON": lambda name, _, secret, __: {
        "request_headers": [JSON],
        "request_body": json.dumps({"a": f"b=1&{name}={secret}"}).encode()},
    "JSON in a query": lambda name, _, secret, __: {
        "url": "http://h/x?j=" + quote(json.dumps({name: secret}), safe="")},
    "multipart": lambda name, _, secret, __: {
        "request_headers": [MULTIPART],
        "request_body": f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{secret}\r\n'
                        "--b--".encode()},
}  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(spelled_secrets())
def test_journal_and_archive_hide_the_same(case: tuple[str, dict[str, Any]]) -> None:
    """Each spelling of a name, in each place, is hidden by both, and not even the end shows."""
    secret, parts = case
    sent = exchange(**parts)
    kind = dict(sent.request_headers).get("Content-Type")
    shown_by_journal = {
        "url": redact.address(sent.url), "headers": redact.headers(sent.request_headers),
        "postData": redact.body(sent.request_body, kind, 9999),
    }  # fmt: skip
    journal = {"request": shown_by_journal, "response": {"content": {}}}
    for entry in (journal, make_entry(sent, 9999), make_entry(sent, 9999, Secrets())):
        shown = show(entry)
        assert secret[-7:] not in shown
        assert secret not in shown
        assert "[redacted" in shown


def test_codes_of_failures_are_no_secrets() -> None:
    """A long code of an error stays in an archive: it is declared, and not drawn."""
    codes = sorted({code for each in OPERATIONS for code in each.errors if code.isupper()})
    body = json.dumps({"errors": [{"code": code} for code in codes]}).encode()

    entry = make_entry(exchange(response_headers=[JSON], response_body=body), 4096, Secrets())

    shown = json.loads(entry["response"]["content"]["text"])["errors"]
    assert codes == [each["code"] for each in shown]
    assert any(len(code) >= 20 for code in codes)


def test_placeholders_keep_equality() -> None:
    """The same secret has the same placeholder everywhere; another one has another."""
    secrets = Secrets()
    token = json.dumps({"access_token": SECRET, "refresh_token": "another-secret"}).encode()

    asked = make_entry(exchange(response_headers=[JSON], response_body=token), 999, secrets)
    used = make_entry(
        exchange(
            url=f"https://h/x?oauth_token={QUOTED}&o=http%3A%2F%2Fh%3Foauth_token%3Danother-secret",
            request_headers=[("Authorization", f"Bearer {SECRET}"), ("Cookie", f"a={SECRET}")],
        ),
        999, secrets,
    )  # fmt: skip

    told = json.loads(asked["response"]["content"]["text"])
    assert {"access_token": "[redacted-1]", "refresh_token": "[redacted-2]"} == told
    values = {each["name"]: each["value"] for each in used["request"]["headers"]}
    assert "Bearer [redacted-1]" == values["Authorization"]
    found = {each["name"]: each["value"] for each in used["request"]["queryString"]}
    assert "[redacted-1]" == found["oauth_token"]
    assert "http://h?oauth_token=[redacted-2]" == found["o"]


def test_a_placeholder_with_more_behind_it_is_a_secret() -> None:
    """A value that only begins like a placeholder is removed."""
    url = "https://h/x?oauth_token=[redacted-1]s3cret&pin=%5Bredacted-1%5Ds3cret"

    assert "s3cret" not in show(make_entry(exchange(url=url), 999))


def test_variables_with_secrets() -> None:
    """What the environment calls a secret is one, wherever it comes up; paths and switches stay."""
    secrets = Secrets()
    key = ("SHOP_API_KEY", "k-1234567890abc")
    secrets.learn_environment([key, ("TOKEN_FILE", "/run/secrets/t"), ("USE_TOKEN", "yes")])

    assert "[redacted-1] /run/secrets/t yes" == secrets.hide("k-1234567890abc /run/secrets/t yes")


WAYS: dict[str, Callable[[str], str]] = {
    "json": json.dumps, "list": lambda text: json.dumps([text]), "quote": partial(quote, safe=""),
}  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(
    st.text(st.sampled_from('abAB01%+/=&"\\ü~ -'), min_size=8, max_size=24),
    st.lists(st.sampled_from(sorted(WAYS)), max_size=3),
    st.sampled_from([0, 60]),
)
def test_a_secret_of_any_characters(secret: str, ways: list[str], others: int) -> None:
    """A learned secret is in no nesting of encodings, whatever its characters and others are."""
    secret = f"k{secret}k"
    secrets = Secrets()
    secrets.learn(secret)
    for number in range(others):
        secrets.learn(f"another-{number}")
    text = secret
    for way in ways:
        text = WAYS[way](text)

    hidden = secrets.hide(text)

    assert secret not in hidden
    assert "[redacted-1]" in hidden


def test_a_text_that_was_shown_before() -> None:
    """A text that was shown as it is has no secret any more once that was learned."""
    secrets = Secrets()

    assert "open-sesame-1" == secrets.hide("open-sesame-1")
    secrets.learn("open-sesame-1")
    assert "[redacted-1]" == secrets.hide("open-sesame-1")


def test_many_secrets_are_hidden_as_fast_as_few() -> None:
    """A session of signed requests has a secret for each, and none makes the other texts slower."""
    secrets = Secrets()
    signatures = [b64encode(sha1(b"%d" % n).digest()).decode() for n in range(3000)]
    for signature in signatures:
        secrets.learn(signature)
    text = " ".join(b64encode(b"other %d" % n).decode() for n in range(20_000))

    began = process_time()
    hidden = secrets.hide(f"{text} {signatures[1]} {signatures[11]}")
    seconds = process_time() - began

    assert f"{text} [redacted-2] [redacted-12]" == hidden
    assert seconds < 1, "one pattern for all secrets takes many times as long"


def open_file(path: Path, *, overwrite: bool = False) -> HarFile:
    """A file with a limit of ten bytes for each body."""
    return HarFile(path, overwrite=overwrite, max_body_bytes=10, secrets=Secrets())


def test_a_file_is_whole_after_each_exchange(tmp_path: Path) -> None:
    """Whoever is killed between two exchanges leaves an archive that everyone can read."""
    path = tmp_path / "a.har"
    file = open_file(path)
    for count in range(4):
        assert count == len(json.loads(path.read_text())["log"]["entries"])
        assert count == len(list(read_har(path)))
        file.append(exchange(response_body=b"{}"))
    file.close()
    file.close()

    assert 4 == len(list(read_har(path)))


def test_a_file_is_private(tmp_path: Path) -> None:
    """Nobody else may read it, and an existing one, or its link, is not written to."""
    path = tmp_path / "a.har"
    open_file(path).close()

    assert 0o600 == path.stat().st_mode & 0o777
    with pytest.raises(FileExistsError):
        open_file(path)
    (tmp_path / "victim").write_text("kept")
    link = tmp_path / "link.har"
    link.symlink_to(tmp_path / "victim")
    with pytest.raises(FileExistsError):
        open_file(link)
    open_file(link, overwrite=True).close()
    assert "kept" == (tmp_path / "victim").read_text()
    assert not link.is_symlink()


def test_only_a_regular_file_is_replaced(tmp_path: Path) -> None:
    """A pipe or a device, which others use, stays where it is: `--out /dev/null --force`."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(OSError, match="only a regular file is replaced"):
        open_file(pipe, overwrite=True)

    assert pipe.is_fifo()


def test_exchanges_of_many_threads(tmp_path: Path) -> None:
    """Exchanges that end at the same time are all in the file."""
    file = open_file(tmp_path / "a.har")

    def append() -> None:
        for _ in range(20):
            file.append(exchange())

    threads = [threading.Thread(target=append) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 80 == file.count == len(list(read_har(tmp_path / "a.har")))


def test_bodies_are_read_back(tmp_path: Path) -> None:
    """Bytes come back as they were; a long body says that it was cut."""
    file = open_file(tmp_path / "a.har")
    file.append(exchange(request_body=b"\xff\x00", response_body=b"\x00\xff"))
    file.append(exchange(response_body="aaaaaaaaaé…".encode(), status=0))

    bytes_, cut = read_har(tmp_path / "a.har")

    assert (b"\xff\x00", b"\x00\xff") == (bytes_.request.body, bytes_.response.body)
    assert (b"a" * 9, False, 0) == (cut.response.body, cut.response.is_whole, cut.response.status)
