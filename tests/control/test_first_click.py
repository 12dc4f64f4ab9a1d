"""The requests that Swagger UI builds from the description: the first click works."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from mock_platform.control.docs import MADE, SIGNED, list_authorizations, list_steps, list_streams
from tests.support import Keys, Sandbox, sandbox, signed

FORM = "application/x-www-form-urlencoded"
NEED_MORE = {
    "account_activity.replay", "older.account_activity.webhooks.create",
    "older.account_activity.webhooks.validate", "oauth.submit_authenticate",
    "oauth.submit_authorize", "oauth2.submit_authorize", "scheduled_feeds.create",
    "stats_jobs.cancel", "stats_jobs.result", "webhooks.create", "webhooks.validate",
}  # fmt: skip
"""Retired, the form of another page, or needs a receiver or a new job; documents A and B show none
of them.
"""


class Reader:
    """One who opens an operation in Swagger UI and presses Execute."""

    def __init__(self, box: Sandbox) -> None:
        self._box = box
        self.document = box.call("GET", "/_mock/docs/openapi.json", keys=None).get_json()
        self._known = list_authorizations(box.world)
        self._steps = list_steps(box.platform, box.world)

    def list_operations(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """All operations: method, template of the path, description."""
        for path, item in self.document["paths"].items():
            for method, entry in item.items():
                yield method.upper(), path, entry

    def click(self, method: str, path: str, entry: dict[str, Any]) -> tuple[int, str]:
        """Send what is filled in; returns the status and the answer."""
        self._box.world.reset()
        query: dict[str, str] = {}
        for parameter in entry["parameters"]:
            value = parameter.get("example", parameter.get("schema", {}).get("default"))
            if value is None:
                assert not parameter.get("required"), f"{parameter['name']} is empty"
                continue
            place = f"{{{parameter['name']}}}"
            if parameter["in"] == "path":
                path = path.replace(place, str(value))
            else:
                query[parameter["name"]] = _write(value)
        first = self._steps.get(f"{method} {path}")
        if first is not None:
            self._send(first[0], first[1], entry)
        body, kind = _fill_body(entry)
        return self._send(
            method, f"{path}?{urlencode(query)}" if query else path, entry, body, kind
        )

    def _send(
        self, method: str, path: str, entry: dict[str, Any], body: str = "", kind: str = ""
    ) -> tuple[int, str]:
        scheme = list(_join(entry.get("security", [])))[-1:]
        pair = self._known["pairs"].get(*scheme) if scheme else None
        made: dict[str, str] = {}
        if MADE["request_token"] in path or MADE["verifier"] in path + body:
            made = self._begin()
            path = path.replace(MADE["request_token"], made["oauth_token"])
            if MADE["verifier"] in path + body:
                verifier = self._approve(oauth_token=made["oauth_token"])
                path, body = (part.replace(MADE["verifier"], verifier) for part in (path, body))
        if MADE["code"] in body:
            form = dict(parse_qsl(body))
            consent = next(
                {each["name"]: each["example"] for each in entry["parameters"] if "example" in each}
                for _, _, entry in self.list_operations()
                if entry["operationId"] == "oauth2.authorize"
            )
            assert form["code_verifier"] == consent["code_challenge"]
            asked = f"http://localhost/2/oauth2/authorize?{urlencode(consent)}"
            body = body.replace(MADE["code"], self._approve(url=asked))
        headers = {"Content-Type": kind} if kind else {}
        url = f"http://localhost{path}"
        if scheme and scheme[0] in SIGNED:
            keys = self._known["signing"][SIGNED[scheme[0]]]
            token = made.get("oauth_token", keys.get("token"))
            secret = made.get("oauth_token_secret", keys.get("token_secret"))
            fields = dict(parse_qsl(body, keep_blank_values=True)) if kind == FORM else None
            who = Keys(keys["consumer_key"], keys["consumer_secret"], token, secret)
            headers |= signed(method, url, who, fields)
        elif scheme and scheme[0] in self._known["tokens"]:
            headers["Authorization"] = f"Bearer {self._known['tokens'][scheme[0]]}"
        answer = self._box.client.open(
            path, method=method, headers=headers, data=body or None, auth=pair and tuple(pair)
        )
        if path.partition("?")[0] in list_streams(self._box.platform):
            answer.close()
            return answer.status_code, ""
        return answer.status_code, answer.get_data().decode(errors="replace")

    def _begin(self) -> dict[str, str]:
        path = "/oauth/request_token"
        form = {"oauth_callback": self._known["callback"]}
        keys = self._known["signing"][SIGNED["oauth1-app"]]
        app = Keys(keys["consumer_key"], keys["consumer_secret"])
        return dict(parse_qsl(self._box.call("POST", path, keys=app, form=form).text))

    def _approve(self, **asked: str) -> str:
        answer = self._box.call("POST", "/_mock/oauth/approve", keys=None, json=asked).get_json()
        return str(answer["verifier"] or answer["code"])


def _join(alternatives: list[dict[str, Any]]) -> Iterator[str]:
    for alternative in alternatives:
        yield from alternative


def _write(value: Any) -> str:
    if isinstance(value, bool):
        return json.dumps(value)
    return ",".join(value) if isinstance(value, list) else str(value)


def _fill_body(entry: dict[str, Any]) -> tuple[str, str]:
    """The body and its type: the example of the first type, or one of each field of a form."""
    content = entry.get("requestBody", {}).get("content", {})
    for kind, part in content.items():
        if kind == FORM:
            fields = part["schema"]["properties"]
            return urlencode({name: each["example"] for name, each in fields.items()}), kind
        return json.dumps(part["example"]), kind
    return "", ""


@pytest.fixture(scope="module")
def reader() -> Reader:
    """One reader for all operations."""
    return Reader(sandbox())


def test_the_first_click_works(reader: Reader) -> None:
    """Each operation answers with a success that its description lists."""
    refused = {}
    for method, path, entry in reader.list_operations():
        try:
            status, text = reader.click(method, path, entry)
        except (AssertionError, KeyError) as fault:
            status, text = 0, repr(fault)
        if str(status) not in entry["responses"] or status not in range(200, 400):
            refused[entry["operationId"]] = f"{status} {text[:300]}"

    assert {name: why for name, why in refused.items() if name not in NEED_MORE} == {}
    assert set(refused) == NEED_MORE


def test_what_documents_show_works(reader: Reader) -> None:
    """None of the operations of which the first click does not work is shown in A or B."""
    origins = {
        entry["operationId"]: entry["x-mock-origin"] for _, _, entry in reader.list_operations()
    }

    assert not {name for name in NEED_MORE if origins[name] in {"A", "B"}}


def test_a_form_has_no_invented_values(reader: Reader) -> None:
    """Each field has an example, empty if the request does without; no form repeats the query."""
    for _, _, entry in reader.list_operations():
        form = entry.get("requestBody", {}).get("content", {}).get(FORM)
        if form is None:
            continue
        fields = form["schema"]["properties"]
        names = {each["name"] for each in entry["parameters"]}
        assert all("example" in field for field in fields.values()), entry["operationId"]
        assert not set(fields) <= names, entry["operationId"]
        assert not re.search(r"\{\w+\}", json.dumps(fields)), entry["operationId"]


def test_a_browser_reads_each_value_exactly(reader: Reader) -> None:
    """No example is a number that JavaScript rounds: the ids of posts are longer."""
    examples = [
        json.dumps([parameter.get("example"), _fill_body(entry)[0]])
        for _, _, entry in reader.list_operations()
        for parameter in [*entry["parameters"], {}]
    ]

    numbers = [int(found) for text in examples for found in re.findall(r"(?<![\w\"=])\d+", text)]
    assert numbers
    assert max(numbers) < 2**53
