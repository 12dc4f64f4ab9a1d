"""Credentials do not reach journal and logs."""

from __future__ import annotations

import dataclasses
import json
import re
from time import thread_time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.api.served import TABLES
from mock_platform.control.mistakes import TOKEN_HEADER
from mock_platform.core.auth.tester_access import environment
from mock_platform.platform import Platform
from mock_platform.verification.compare.client import SigningCredentials
from mock_platform.world import redact

SECRET = "s3cretValue"
LONG = "aGJyRGVza1VzZXJUb2tlbg-_.~"
"""A code or a token of OAuth 2.0: these are known by their length."""


@pytest.mark.parametrize(("shown", "value"), [
    ("/a?oauth_token=[redacted]&x=1", "/a?oauth_token=abc&x=1"),
    ("oauth_verifier=[redacted]", "oauth_verifier=12345"),
    ("oauth_token=[redacted]&oauth_token_secret=[redacted]&user_id=5",
     "oauth_token=a&oauth_token_secret=b&user_id=5"),
    ('{"access_token":"[redacted]","token_type":"bearer"}',
     '{"access_token":"AA\\"A","token_type":"bearer"}'),
    ('<input name="authenticity_token" type="hidden" value="[redacted]">',
     '<input name="authenticity_token" type="hidden" value="s3cret">'),
    ('<code id="pin">[redacted]</code>', '<code id="pin">1234567</code>'),
    ("my_oauth_tokens=5", "my_oauth_tokens=5"),
    ('{"secret":"[redacted]","b":1}', '{"secret":[["abc"],{"a":["}]abc"]}],"b":1}'),
    ('{"password":"[redacted]","b":["c"]}', '{"password":{"a":{"d":"abc"}},"b":["c"]}'),
    ('{"password":"[redacted]"', '{"password":[{"a":"abc"},["ab'),
    ("https://cb/?state=1&code=[redacted]", f"https://cb/?state=1&code={LONG}"),
    ('{"code": "[redacted]", "token":"[redacted]"}', f'{{"code": "{LONG}", "token":"{LONG}"}}'),
    ("code=404&next_token=abcdefghijklmnopqrstu", "code=404&next_token=abcdefghijklmnopqrstu"),
    ('{"code":"UNAUTHORIZED_CLIENT_APPLICATION"}', '{"code":"UNAUTHORIZED_CLIENT_APPLICATION"}'),
    ("oauth_token=&x=1", "oauth_token=&x=1"),
    ("see oauth%5Ftoken=[redacted]&x", "see oauth%5Ftoken=abc&x"),
    ('{"access\\u005ftoken":"[redacted]","x":"\\u00e9"}',
     '{"access\\u005ftoken":"abc","x":"\\u00e9"}'),
    ('{"access\\u005ftoken":"[redacted]"}', '{"access\\u005ftoken":["abc"]}'),
    ('{"pin": "[redacted]", "n": 12}', '{"pin": 1234567, "n": 12}'),
    ('{"password":null}', '{"password":null}'),
    ('{"password":"[redacted]"}', '{"password":["abc","def"]}'),
    ('{"password":"[redacted]"', '{"password":"cut off he'),
    ('{"body":"{\\"access_token\\":\\"[redacted]\\"}"}',
     '{"body":"{\\"access_token\\":\\"abc\\"}"}'),
    ('{"url":"http:\\/\\/c\\/"}', '{"url":"http:\\/\\/c\\/"}'),
    ('{"\\ud800":"x\\u"}', '{"\\ud800":"x\\u"}'),
    ("GET&http%3A%2F%2Fh&oauth_nonce%3Dn%26oauth_token%3D[redacted]%26x%3D1",
     "GET&http%3A%2F%2Fh&oauth_nonce%3Dn%26oauth_token%3Dabc%26x%3D1"),
    ("/r/http%3A//cb%3Foauth_token%3D[redacted]", "/r/http%3A%2F%2Fcb%3Foauth_token%3Dabc"),
    ('<a href="/x?oauth_token=[redacted]&amp;y=1">', '<a href="/x?oauth_token=abc&amp;y=1">'),
])  # fmt: skip
def test_texts_lose_their_secrets(shown: str, value: str) -> None:
    """URLs, forms, JSON and pages keep everything but the credentials."""
    assert redact.text(value) == shown


@pytest.mark.parametrize(("shown", "value"), [
    ("/a?oauth%5Ftoken=[redacted]&x=1", "/a?oauth%5Ftoken=abc&x=1"),
    ("/a?%6Fauth_token=[redacted]", "/a?%6Fauth_token=abc"),
    ("/a?OAuth_Token=[redacted]", "/a?OAuth_Token=abc"),
    ("/a?next=http%3A%2F%2Fcb%2F%3Foauth_token%3D[redacted]%26y%3D1",
     "/a?next=http%3A%2F%2Fcb%2F%3Foauth_token%3Dabc%26y%3D1"),
    ("/a?next=http://cb/?oauth_token=[redacted]&y=1", "/a?next=http://cb/?oauth_token=abc&y=1"),
    ("/a?password=[redacted]&x=1", '/a?password=a"b c&x=1'),
    ("/a?x=1#access_token=[redacted]", "/a?x=1#access_token=abc"),
    ("/a?j=%7B%22access_token%22%3A%22[redacted]%22%7D",
     "/a?j=%7B%22access_token%22%3A%22abc%22%7D"),
    ("/a?q=caf%c3%a9+x&count=9&empty=&flag", "/a?q=caf%c3%a9+x&count=9&empty=&flag"),
    ("/a?x=%zz&oauth_token", "/a?x=%zz&oauth_token"),
    ("/a?c%6Fde=[redacted]&code_challenge=[redacted]", f"/a?c%6Fde={LONG}&code_challenge=x"),
    ("/a?code=short&token=short", "/a?code=short&token=short"),
    ("/a?c%6Fde=UNAUTHORIZED_CLIENT_APPLICATION", "/a?c%6Fde=UNAUTHORIZED_CLIENT_APPLICATION"),
    ("code=UNAUTHORIZED_CLIENT_APPLICATION", "code=UNAUTHORIZED_CLIENT_APPLICATION"),
    ("/12/accounts/1;oauth_token=[redacted]", "/12/accounts/1;oauth_token=abc"),
])  # fmt: skip
def test_addresses_lose_their_secrets(shown: str, value: str) -> None:
    """However a parameter's name is spelled, and in addresses within addresses; the rest stays."""
    assert redact.address(value) == shown


def test_json_stays_json() -> None:
    """A parameter before a quote within a text takes nothing of the text with it."""
    for text in (
        'GET url?crc_token=abc with {"response_token": "sha256=x"}.',
        '<a href="/?oauth_token=abc" title="b">',
    ):
        for document in ({"text": text}, {"text": json.dumps({"text": text})}):
            cleaned = redact.text(json.dumps(document))

            assert "abc" not in cleaned
            assert ["text"] == list(json.loads(cleaned))


def test_fields_of_a_multipart_form_lose_their_secrets() -> None:
    """By name, however it is written; other fields stay, but for secrets within them."""
    parts = [
        ('form-data; name="oauth_token"', f"{SECRET}\r\n--x\r\n{SECRET}", redact.MASK),
        ("form-data; name=password", SECRET, redact.MASK),
        ("form-data; name*=utf-8''pass%77ord", SECRET, redact.MASK),
        ('form-data; name="access\\_token"', SECRET, redact.MASK),
        ('form-data; name="note"', "about pins", "about pins"),
        ('form-data; name="code"', LONG, redact.MASK),
        ('form-data; name="token"', "short", "short"),
        ('form-data; name="media"; filename="password"\r\nContent-Type: application/json',
         f'{{"pin":"{SECRET}"}}', f'{{"pin":"{redact.MASK}"}}'),
        ('form-data; name="password"', f"{SECRET} whose end was cut", redact.MASK),
    ]  # fmt: skip

    def written(which: int) -> str:
        found = "--b\r\n".join(
            f"content-disposition: {part[0]}\r\n\r\n{part[which]}\r\n" for part in parts
        )
        return f"--b\r\n{found}".removesuffix("\r\n")

    for kind in ("multipart/form-data; boundary=b", 'multipart/mixed; boundary="b"', None):
        assert redact.content(written(1), kind) == written(2)


def test_a_form_ends_a_secret_at_the_next_parameter_only() -> None:
    """What a sloppy client left unencoded belongs to the value."""
    assert (
        redact.content('password=a"b c&x=1', "application/x-www-form-urlencoded; charset=utf-8")
        == "password=[redacted]&x=1"
    )


def spelled(draw: st.DrawFn, name: str, how: str) -> str:
    """A name with some of its letters escaped."""
    chosen = draw(st.sets(st.integers(0, len(name) - 1)))
    return "".join(how.format(ord(c)) if i in chosen else c for i, c in enumerate(name))


@st.composite
def hidden_secrets(draw: st.DrawFn) -> tuple[str, str]:
    """A body with a secret somewhere within, and its media type."""
    name = draw(st.sampled_from(["oauth_token", "password", "access_token", "client_secret"]))
    form, escaped = "application/x-www-form-urlencoded", spelled(draw, name, "\\u{:04x}")
    if draw(st.booleans()):
        kind, text = form, f"a=1&{spelled(draw, name, '%{:02X}')}={SECRET}&b=2"
    else:
        kind, text = "application/json", f'{{"{escaped}": "{SECRET}"}}'
    for way in draw(st.lists(st.sampled_from(["query", "form", "json", "list"]), max_size=3)):
        if way == "query":
            kind, text = "text/plain", f"http://cb/x?y=z&next={quote(text, safe='')}"
        elif way == "form":
            kind, text = form, f"q=1&data={quote_plus(text)}"
        else:
            value = {"k": text} if way == "json" else ["x", text]
            kind, text = "application/json", json.dumps(value)
    return text, kind


@given(hidden_secrets())
def test_a_secret_shows_in_no_nesting(case: tuple[str, str]) -> None:
    """A form in an address in JSON in a form: wherever a server would find it, it is hidden."""
    value, kind = case

    assert SECRET not in redact.content(value, kind)


@given(st.text(st.sampled_from('abz09 =&?%25"\\{}[]:,/+<>\nué')))
def test_what_is_no_secret_stays(value: str) -> None:
    """Texts without the name of a secret are shown as they were sent."""
    for kind in ("application/json", "application/x-www-form-urlencoded", "text/plain"):
        assert redact.content(value, kind) == value
    assert redact.address(value) == value


def test_what_is_encoded_too_often_is_not_shown() -> None:
    """Secrets are not searched ten levels deep, so nothing of it is shown."""
    value = f"oauth_token={SECRET}"
    for _ in range(10):
        value = quote(value, safe="")

    assert SECRET not in redact.address(f"/a?x={value}")
    assert redact.MASK in redact.address(f"/a?x={value}")


@pytest.mark.parametrize(("name", "value", "shown"), [
    ("Authorization", "Bearer AAAA", "Bearer [redacted]"),
    ("Authorization", "Bearer\tAAAA", "Bearer [redacted]"),
    ("Authorization", "AAAA", "[redacted]"),
    ("Authorization", "", ""),
    ("Authorization", "OAuth AAAA", "OAuth [redacted]"),
    ("Proxy-Authorization", "Basic AAAA", "Basic [redacted]"),
    ("Authorization", 'OAuth oauth%5Ftoken="t", oauth_nonce="n", oauth_signature=ab',
     'OAuth oauth%5Ftoken="[redacted]", oauth_nonce="n", oauth_signature="[redacted]"'),
    ("X-Auth-Token", "AAAA", "[redacted]"),
    ("Referer", "http://c/?a=%22&oauth_token=v", "http://c/?a=%22&oauth_token=[redacted]"),
    ("authorization", "Basic eDp5", "Basic [redacted]"),
    ("Authorization", 'OAuth oauth_consumer_key="k", oauth_token="t", oauth_signature="s%3D"',
     'OAuth oauth_consumer_key="k", oauth_token="[redacted]", oauth_signature="[redacted]"'),
    ("Cookie", "a=b", "[redacted]"),
    ("Set-Cookie", "sid=abc; HttpOnly", "sid=[redacted]; HttpOnly"),
    ("Location", "http://c/?oauth_verifier=v", "http://c/?oauth_verifier=[redacted]"),
    ("X-Mock-Control-Token", "t", "[redacted]"),
    ("X-Webhooks-Signature-256", "sha256=abc", "[redacted]"),
    ("Accept", "text/html", "text/html"),
])  # fmt: skip
def test_headers_lose_their_secrets(name: str, value: str, shown: str) -> None:
    """Schemes and keys stay readable, secrets go."""
    assert redact.header(name, value) == shown


def test_a_body_is_cut_and_says_so() -> None:
    """A long body is shown in part, a binary one lossily, each with its size."""
    shown = redact.body(b"abc\xff" * 4, "x/y", 8)

    assert shown == {
        "size": 16, "content_type": "x/y", "text": "abc\ufffdabc\ufffd", "lossy": True,
        "truncated": True,
    }  # fmt: skip


def test_a_tokens_key_is_cut_because_it_is_the_token() -> None:
    """Among the changed records a token shows its beginning only, others their whole key."""
    assert "AAAAAAAAAAAA…" == redact.key("tokens", "A" * 40)
    assert "18ce54d4x5t" == redact.key("accounts", "18ce54d4x5t")


WORDS = re.compile(
    r"secret|token|passw|passphrase|verifier|signature|challenge|csrf|session|assertion"
    r"|private_?key|api_?key|authorization|cookie|\bpin\b",
    re.IGNORECASE,
)
"""What a name has in it that may name a secret."""
PUBLIC = {
    "next_token": "a page of a list", "previous_token": "a page of a list",
    "pagination_token": "a page of a list", "conversation_token": "an id of a conversation",
    **dict.fromkeys(
        (
            "message_event_signature", "action_signatures", "encoded_message_event_signature",
            "identity_public_key_signature", "signing_public_key_signature",
        ),
        "proves with a public key who wrote something",
    ),
    "_token": "an id of a conversation", "token": "a secret if it is long",
    "tokens": "the name of a table",
    "token_type": "a word of OAuth 2.0", "token_type_hint": "a word of OAuth 2.0",
    "code_challenge_method": "a word of OAuth 2.0", "authorization_id": "the key of a record",
    "oauth_signature_method": "a word of OAuth 1.0a", "_challenged_at": "a moment",
    "_authorization_id": "the key of a record", "sessions": "the name of a table",
}  # fmt: skip
"""Names that only look so, each with what it is."""


def list_declared() -> set[str]:
    """The names of parameters, fields, columns, credentials and headers that the package has."""
    platform = Platform()
    schemas = [each.params for each in platform.operations if each.params is not None]
    schemas += [table.schema for table in TABLES]
    names = {
        field.data_key or name for schema in schemas for name, field in schema().fields.items()
    }
    found = credentials(platform.worlds.default)
    names |= {name for part in (found, found["app"], found["user"]) for name in part}
    names |= environment(found).keys()
    names |= {each.name for each in dataclasses.fields(SigningCredentials)}
    names |= {TOKEN_HEADER, "MOCK_PLATFORM_CONTROL_TOKEN"}
    return {name for name in names if WORDS.search(name) and name not in PUBLIC}


USED = {
    "oauth_token_secret", "oauth_verifier", "oauth_signature", "oauth_token", "refresh_token",
    "client_secret", "consumer_secret", "code_verifier", "code_challenge", "authenticity_token",
    "token_secret", "request_token", "x_csrf_token", "api_key", "proxy_authorization",
    "authorization", "signature", "client_assertion", "id_token", "crc_token", "x_auth_password",
}  # fmt: skip
"""Names of the interface, of OAuth and of services like it, which no schema declares."""
DECLARED = sorted(list_declared() | USED)


def spell(name: str) -> set[str]:
    """A name as JSON, forms, headers and other languages write it."""
    words = [
        word for word in re.split(r"[_-]", name.lower().removeprefix("mock_platform_")) if word
    ]
    camel = words[0] + "".join(word.title() for word in words[1:])
    return {
        name, name.upper(), "_".join(words), "-".join(words), camel, camel[0].upper() + camel[1:],
        "-".join(word.title() for word in words), "_" + "_".join(words),
        "MOCK_PLATFORM_" + "_".join(words).upper(),
    }  # fmt: skip


def test_the_list_has_what_the_package_declares() -> None:
    """Fields of records, parameters and credentials are found; a new one has to be decided."""
    assert len(DECLARED) > 30
    assert {"secret", "verifier", "_password", "client_secret"} <= set(DECLARED)


@pytest.mark.parametrize("name", DECLARED)
def test_no_spelling_of_a_secret_name_is_shown(name: str) -> None:
    """In queries, forms, JSON, multipart forms, pages, texts and headers."""
    for each in spell(name):
        part = f'--b\r\nContent-Disposition: form-data; name="{each}"\r\n\r\n{SECRET}\r\n--b--\r\n'
        shown = {
            "query": redact.address(f"/a?x=1&{each}={SECRET}&y=2"),
            "encoded": redact.address(f"/a?x=1&{quote_hard(each)}={SECRET}"),
            "nested": redact.address(f"/a?next={quote(f'http://cb/?{each}={SECRET}', safe='')}"),
            "form": redact.content(f"{each}={SECRET}", "application/x-www-form-urlencoded"),
            "json": redact.content(json.dumps({"a": [{each: SECRET}]}), "application/json"),
            "json in json": redact.text(json.dumps({"a": json.dumps({each: SECRET})})),
            "multipart": redact.content(part, "multipart/form-data; boundary=b"),
            "page": redact.text(f'<input name="{each}" type="hidden" value="{SECRET}">'),
            "text": redact.text(f"{each}={SECRET} was sent"),
            "header": redact.header(each.replace("_", "-"), SECRET),
            "pair": redact.pair(each, SECRET),
        }
        assert {} == {place: text for place, text in shown.items() if SECRET in text}, each


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_what_only_looks_like_a_secret_is_shown(name: str) -> None:
    """Pages, ids and words of OAuth stay readable."""
    assert f"/a?{name}=short" == redact.address(f"/a?{name}=short")
    assert f'{{"{name}":"short"}}' == redact.text(f'{{"{name}":"short"}}')


def quote_hard(text: str) -> str:
    """A text with each character percent-encoded."""
    return "".join(f"%{ord(each):02X}" for each in text)


@pytest.mark.parametrize(("shown", "value"), [
    ("http://me:[redacted]@h:80/a?b=1", f"http://me:{SECRET}@h:80/a?b=1"),
    ("http://:[redacted]@h/", f"http://:{SECRET}@h/"),
    ("see redis://u:[redacted]@h and x@y", f"see redis://u:{SECRET}@h and x@y"),
    ("http://u:[redacted]@h/", f"http://u:{SECRET}:a@b@h/"),
    ("/a?next=http://u:[redacted]@h/&y=1", f"/a?next=http://u:{SECRET}@h/&y=1"),
    ("/a?next=http%3A%2F%2Fu%3A[redacted]%40h%2F", f"/a?next=http%3A%2F%2Fu%3A{SECRET}%40h%2F"),
    ('{"url":"http://u:[redacted]@h/"}', f'{{"url":"http://u:{SECRET}@h/"}}'),
    ("http://h:80/a@b", "http://h:80/a@b"),
    ("http://u@h/", "http://u@h/"),
])  # fmt: skip
def test_the_password_in_an_address_is_not_shown(shown: str, value: str) -> None:
    """Wherever the address is: the user and the host stay."""
    assert shown == redact.address(value)
    assert SECRET not in redact.text(value)
    for name in ("Location", "Referer", "X-Other"):
        assert SECRET not in redact.header(name, value)


def test_a_password_in_an_escaped_address_is_not_shown() -> None:
    """JSON may escape each slash."""
    assert SECRET not in redact.text(f'{{"url":"http:\\/\\/u:{SECRET}@h\\/"}}')


@pytest.mark.parametrize(
    "shape", ["OAuth a=b,{row}", "{row}token=abc", "oauth{row}=token", '="pin"{row}']
)
@pytest.mark.parametrize("part", ["x", "-", "_", "-_", '<code id="pin"', '"token":[', "mock-"])
def test_a_row_of_what_begins_a_secret_is_read_once(shape: str, part: str) -> None:
    """However a client fills the 64 KiB of a head, to show it takes less than a second."""
    value = shape.format(row=part * (65_536 // len(part)))
    began = thread_time()
    redact.header("Authorization", value)
    redact.text(value)
    redact.address(f"/{value}")
    assert thread_time() - began < 1.0


@pytest.mark.parametrize(
    "before", ["", "-", "--", "_", "__", "-_", "_-", "x-_", "a--", "a-", "--_-__"]
)
def test_a_name_after_dashes_is_a_secret(before: str) -> None:
    """Dashes and underscores before the name of a secret do not let it be shown."""
    assert redact.text(f"{before}token_secret={SECRET}") == f"{before}token_secret=[redacted]"
