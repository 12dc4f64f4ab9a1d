"""One request: what was sent and answered, why, and how to send it again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from flask import Response
from msgspec import Struct

from mock_platform.control.console.answers import FormState, render
from mock_platform.control.journal import METHODS, find_entry
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.core.curl import WITH_HEADERS, Variable, Words, write_curl
from mock_platform.core.failures.codes import phrase
from mock_platform.core.jsonio import BadJson, dumps, loads, pretty
from mock_platform.core.warning_counts import strip_origin
from mock_platform.world import redact
from mock_platform.world.endings import describe_end
from mock_platform.world.journal import JournalEntry

_EXPLAINED = ("explanation", "mistake", "nearest")
"""Parts of a diagnosis that the page words itself."""


def show_entry(request: ControlRequest, form: FormState | None = None) -> Response:
    """One request in full."""
    found = find_entry(request.platform, request.world, request.args["key"])
    shown = found.as_json()
    texts = {each.id: each.text for each in request.platform.assumptions().values()}
    diagnosis = found.diagnosis or {}
    return render(
        request,
        "entry.html",
        block="content",
        entry=shown,
        phrase=found.reason or phrase(found.status),
        address=shown["url"].removeprefix(request.base_url),
        reason=explain_entry(found),
        ended=describe_end(found.ended),
        is_whole=found.ending is not None and found.ending.how == "complete",
        caller=_describe_caller(found.caller),
        explanation=diagnosis.get("explanation", ""),
        mistake=diagnosis.get("mistake", ""),
        nearest=[each for each in diagnosis.get("nearest", ()) if isinstance(each, dict)],
        details=[
            (name.replace("_", " "), _show(value))
            for name, value in diagnosis.items()
            if name not in _EXPLAINED and value not in (None, "", [], {})
        ],
        rule=found.rule,
        rule_details=[
            (name.replace("_", " "), _show(value))
            for name, value in (found.rule or {}).items()
            if name not in {"scenario", "rule"} and value not in (None, "", [], {})
        ],
        assumptions=[(name, texts.get(name, "")) for name in found.assumptions],
        messages=[
            ("Request", shown["request"]["headers"], _format_body(shown["request"]["body"])),
            ("Answer", shown["response"]["headers"], _format_body(shown["response"]["body"])),
        ],
        snippets=write_snippets(shown),
        sent=(sent := read_sent(shown)),
        scheme=find_scheme(sent, shown),
        methods=METHODS,
        schemes=_SCHEMES,
        form=form,
        savable=200 <= found.status <= 599,
    )


_SCHEMES = (
    ("oauth1", "the test user, with OAuth 1.0a"),
    ("oauth2", "the test user, with OAuth 2.0"),
    ("bearer", "the test app, with its bearer token"),
    ("basic", "the test app, with key and secret"),
    ("none", "nobody"),
)
"""As whom a request is sent again."""


def _describe_caller(caller: dict[str, Any] | None) -> str:
    """Return who called, in words."""
    if not caller:
        return "unknown: the request was refused before its credentials were read"
    parts = [str(caller.get("how") or caller.get("scheme") or "")]
    parts += [f"{name} {caller[name]}" for name in ("app", "user") if caller.get(name)]
    return ", ".join(part for part in parts if part)


def _show(value: Any) -> str:
    """Return a value as it is read: texts and numbers plain, anything else as indented JSON."""
    if isinstance(value, bool | dict | list):
        return pretty(value)
    return str(value)


def _format_body(body: dict[str, Any]) -> str:
    """Return a body in readable form: JSON indented, anything else unchanged."""
    text: str = body["text"]
    try:
        return pretty(loads(text.encode())) if text else ""
    except BadJson:
        return text


ENTRY_ROUTES = (Route("GET", "/console/requests/<key>", show_entry, media_type=HTML),)


# Why a request was answered as it was, in words.

_SHOWN_CHANGES = 3


def explain_entry(found: JournalEntry) -> str:
    """Return the most important reason for an answer, in one line."""
    changed = ", ".join(
        f"{change.table}/{redact.key(change.table, change.key)}"
        for change in found.changes[:_SHOWN_CHANGES]
    )
    if len(found.changes) > _SHOWN_CHANGES:
        changed += f" and {len(found.changes) - _SHOWN_CHANGES} more"
    reasons = [*found.warnings, f"changed {changed}" if changed else ""]
    # What explains the answer comes first; a scenario that only counted it explains nothing of it.
    if found.rule is not None or found.status >= 400:
        return found.why or "; ".join(filter(None, reasons))
    return "; ".join(filter(None, [*reasons, found.why]))


# A request as something to run: for curl, in Python, as a pytest test. The journal has no
# credentials, and a signature is good only once. So a snippet takes credentials from the
# environment that `mock-platform run` sets, and from `GET /_mock/credentials` in a test.

_LEFT_OUT = frozenset(
    {
        "accept-encoding", "authorization", "connection", "content-length", "cookie", "host",
        "user-agent", "accept", "cache-control", "transfer-encoding",
    }
)  # fmt: skip
"""Headers that clients set by themselves, and those of credentials."""
_PREFIX = "MOCK_PLATFORM"
_BODY_NOTE = (
    "The journal does not have the whole body as text, so this one differs from what was sent."
)
_TEST_NOTE = "It runs as it is wherever mock_platform is installed; its plugin has the fixture."


class Snippet(Struct, frozen=True):
    """One way to repeat a request."""

    id: str
    title: str
    text: str
    note: str = ""


def write_snippets(entry: Mapping[str, Any]) -> Sequence[Snippet]:
    """Return all ways to repeat an entry, given as the JSON of the control plane."""
    sent = read_sent(entry)
    body = entry["request"]["body"]
    is_whole = not (body.get("truncated") or body.get("lossy"))
    for_curl, for_python = (
        note if is_whole else f"{note} {_BODY_NOTE}".strip() for note in _NOTES[sent.scheme]
    )
    return (
        Snippet("curl", "curl", _write_curl(sent), for_curl),
        Snippet("python", "Python", _write_python(sent), for_python),
        Snippet("node", "node", _write_node(sent), for_curl.replace("curl", "fetch")),
        Snippet("pytest", "pytest", _write_test(sent, entry), _TEST_NOTE),
    )


class SentRequest(Struct, frozen=True):
    """What a client sent, without its credentials."""

    method: str
    url: str
    headers: Sequence[tuple[str, str]]
    body: str
    content_type: str
    scheme: str
    """`oauth1`, `bearer`, `basic` or `none`."""

    @property
    def path(self) -> str:
        """The path and query, without a world's prefix: a test has a world of its own."""
        return strip_origin(self.url)

    def json(self) -> Any:
        """Return the body if it is JSON; else `None`."""
        if "json" not in self.content_type or not self.body:
            return None
        try:
            return loads(self.body.encode())
        except BadJson:
            return None

    def form(self) -> dict[str, str] | None:
        """Return the body if it is a form without repeated names; else `None`."""
        if "x-www-form-urlencoded" not in self.content_type or not self.body:
            return None
        pairs = parse_qsl(self.body, keep_blank_values=True)
        return dict(pairs) if len(dict(pairs)) == len(pairs) else None


def read_sent(entry: Mapping[str, Any]) -> SentRequest:
    """Return what a client sent, from an entry in the JSON of the control plane."""
    headers = [(name, value) for name, value in entry["request"]["headers"]]
    sent = {name.lower(): value for name, value in headers}
    begin = sent.get("authorization", "").partition(" ")[0].lower()
    scheme = {"oauth": "oauth1", "bearer": "bearer", "basic": "basic"}.get(begin, "none")
    return SentRequest(
        entry["method"],
        entry["url"],
        [pair for pair in headers if pair[0].lower() not in _LEFT_OUT],
        entry["request"]["body"]["text"],
        sent.get("content-type", ""),
        scheme,
    )


_NOTES: Mapping[str, tuple[str, str]] = {
    "oauth1": (
        "The request was signed with OAuth 1.0a, which curl cannot do: this one is unsigned. It is "
        "accepted by a server with --auth off.",
        f"The credentials come from the environment: {_PREFIX}_CONSUMER_KEY and so on, as "
        "mock-platform credentials --format env prints them. It needs requests-oauthlib.",
    ),
    "bearer": (
        f"The token comes from the environment: {_PREFIX}_BEARER_TOKEN, as mock-platform "
        "credentials --format env prints it.",
        f"The token comes from the environment: {_PREFIX}_BEARER_TOKEN, as mock-platform "
        "credentials --format env prints it.",
    ),
    "basic": (
        f"Key and secret come from the environment: {_PREFIX}_CONSUMER_KEY and "
        f"{_PREFIX}_CONSUMER_SECRET.",
    )
    * 2,
    "none": ("", ""),
}


def _write_curl(sent: SentRequest) -> str:
    key, secret = Variable(f"{_PREFIX}_CONSUMER_KEY"), Variable(f"{_PREFIX}_CONSUMER_SECRET")
    headers: list[Words] = [f"{name}: {value}" for name, value in sent.headers]
    if sent.scheme == "bearer":
        headers.insert(0, ("Authorization: Bearer ", Variable(f"{_PREFIX}_BEARER_TOKEN")))
    return write_curl(
        sent.method,
        sent.url,
        headers,
        sent.body or None,
        options=WITH_HEADERS,
        user=(key, ":", secret) if sent.scheme == "basic" else None,
    )


def _write_python(sent: SentRequest) -> str:
    lines = ["import os", "", "import requests"]
    arguments = [repr(sent.method), repr(sent.url)]
    if sent.scheme == "oauth1":
        lines += ["from requests_oauthlib import OAuth1"]
        names = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
        found = [f'    os.environ["{_PREFIX}_{name}"],' for name in names]
        lines += ["", "auth = OAuth1(", *found, ")"]
        arguments.append("auth=auth")
    elif sent.scheme == "basic":
        pair = f'os.environ["{_PREFIX}_CONSUMER_KEY"], os.environ["{_PREFIX}_CONSUMER_SECRET"]'
        arguments.append(f"auth=({pair})")
    else:
        lines = lines if sent.scheme == "bearer" else lines[2:]
    body, extra = _body_of(sent)
    headers = [f"        {name!r}: {value!r}," for name, value in extra]
    if sent.scheme == "bearer":
        token = f"os.environ['{_PREFIX}_BEARER_TOKEN']"
        headers.insert(0, f'        "Authorization": f"Bearer {{{token}}}",')
    if headers:
        arguments.append("\n".join(["headers={", *headers, "    }"]))
    arguments += [*body, "timeout=10"]
    call = "".join(f"    {argument},\n" for argument in arguments)
    return "\n".join([*lines, "", f"answer = requests.request(\n{call})"]) + (
        "\nprint(answer.status_code, answer.text)\n"
    )


def _write_node(sent: SentRequest) -> str:
    headers = [f"    {_quote(name)}: {_quote(value)}," for name, value in sent.headers]
    named = {"bearer": f"Bearer ${{process.env.{_PREFIX}_BEARER_TOKEN}}", "basic": "Basic ${pair}"}
    lines = []
    if sent.scheme == "basic":
        pair = ":".join(f"${{process.env.{_PREFIX}_CONSUMER_{each}}}" for each in ("KEY", "SECRET"))
        lines.append(f'const pair = Buffer.from(`{pair}`).toString("base64");')
    if sent.scheme in named:
        headers.insert(0, f"    Authorization: `{named[sent.scheme]}`,")
    body = [f"  body: {_quote(sent.body)},"] if sent.body else []
    lines += [
        f"const answer = await fetch({_quote(sent.url)}, {{",
        f"  method: {_quote(sent.method)},",
        *(["  headers: {", *headers, "  },"] if headers else []),
        *body,
        "});",
        "console.log(answer.status, await answer.text());",
    ]
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    return dumps(text).decode()


def _write_test(sent: SentRequest, entry: Mapping[str, Any]) -> str:
    name = re.sub(r"\W+", "_", entry["operation"] or "request", flags=re.ASCII).strip("_")
    told = f"{sent.method} {urlsplit(sent.path).path} is answered with {entry['status']}."
    arguments = [repr(sent.method), repr(sent.path)]
    scheme = f'"{find_scheme(sent, entry)}"' if sent.scheme in {"oauth1", "bearer"} else ""
    lines = [
        f"def test_{name}(mock_platform):",
        f'    """{_for_docstring(told)}"""',
        f"    session = mock_platform.session({scheme})",
    ]
    if sent.scheme == "basic":
        lines.append('    app = mock_platform.credentials["app"]')
        arguments.append('auth=(app["consumer_key"], app["consumer_secret"])')
    body, extra = _body_of(sent)
    if extra:
        arguments.append(f"headers={dict(extra)!r}")
    call = "".join(f"        {argument},\n" for argument in [*arguments, *body])
    lines += [
        "",
        f"    answer = session.request(\n{call}    )",
        "",
        f"    assert answer.status_code == {entry['status']}",
    ]
    return "\n".join(lines) + "\n"


def find_scheme(sent: SentRequest, entry: Mapping[str, Any]) -> str:
    """Return as whom a request was sent: its scheme, or `oauth2` for a token of a user."""
    is_user = "OAuth 2" in (entry["caller"] or {}).get("how", "")
    return "oauth2" if sent.scheme == "bearer" and is_user else sent.scheme


def _body_of(sent: SentRequest) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the argument for the body, and the headers that it does not set by itself."""
    value, form = sent.json(), sent.form()
    if value is None and form is None:
        body = [f"data={sent.body.encode()!r}"] if sent.body else []
        return body, list(sent.headers)
    others = [pair for pair in sent.headers if pair[0].lower() != "content-type"]
    return [f"json={value!r}" if value is not None else f"data={form!r}"], others


def _for_docstring(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', "'")
