"""A request saved as a scenario: such requests are answered with what was seen."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from flask import Response
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.control.console.answers import (
    FormState,
    attempt,
    go,
    read_form,
    refuse_form,
    render,
)
from mock_platform.control.journal import find_entry
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.route import HTML, ControlRequest, Route
from mock_platform.control.scenarios import (
    check_scenario_text,
    find_scenario_folder,
    put_scenario,
    refuse_text,
    save_scenario,
)
from mock_platform.core.address import split_surface, split_world
from mock_platform.core.jsonio import BadJson, loads
from mock_platform.core.operation import Operation
from mock_platform.core.pairs import decode_pairs, first_values
from mock_platform.core.routing import Router
from mock_platform.platform import Platform
from mock_platform.scenario.writing import write_document
from mock_platform.world.redact import MASK

# Turns a request of the journal into a scenario: such requests are answered with what was seen.

_KEPT_HEADERS = frozenset({"location", "retry-after"})
_KEPT_PREFIXES = ("x-rate-limit-", "x-account-rate-limit-", "x-cost-rate-limit-")
_CHANGING = frozenset({"cursor", "pagination_token", "next_token"})
"""Parameters whose values differ from call to call."""
_MAX_CONDITION = 200
"""Characters of a value that a person would still match on."""


class Condition(Struct, frozen=True):
    """A value of the request that the scenario can match."""

    place: str
    """`path`, `query`, `json` or `form`, as in `when` of a rule."""
    name: str
    value: Any
    usual: bool
    """Whether it says which request this is, so that it is matched unless told otherwise."""

    @property
    def key(self) -> str:
        """How a form names it."""
        return f"{self.place}.{self.name}"


class SeenRequest(Struct, frozen=True):
    """What a scenario can be made of."""

    on: str
    """The operation's id, or method and path where no operation answered."""
    conditions: Sequence[Condition]
    name: str
    """A name for the scenario."""
    description: str
    respond: Mapping[str, Any]

    def make_document(
        self, name: str, description: str, matched: Collection[str]
    ) -> dict[str, Any]:
        """Return the scenario that matches the conditions with these keys."""
        when: dict[str, dict[str, Any]] = {}
        for condition in self.conditions:
            if condition.key in matched:
                when.setdefault(condition.place, {})[condition.name] = _literal(condition.value)
        rule: dict[str, Any] = {"on": self.on}
        if when:
            rule["when"] = when
        if self.respond["status"] >= 400:
            rule["stage"] = "before_auth"
        document: dict[str, Any] = {"name": name}
        if description:
            document["description"] = description
        return document | {"rules": [rule | {"then": {"respond": _literal(dict(self.respond))}}]}


def read_seen(platform: Platform, entry: Mapping[str, Any]) -> SeenRequest:
    """Return what a scenario can be made of; `entry` is the JSON of the control plane."""
    parts = urlsplit(entry["url"])
    world_path = split_world(parts.path)[1]
    _, _, path = split_surface(world_path, parts.netloc)
    operation = next((op for op in platform.operations if op.id == entry["operation"]), None)
    status, name = entry["status"], entry["operation"] or "unknown-path"
    method = "GET" if entry["method"] == "HEAD" else entry["method"]
    return SeenRequest(
        entry["operation"] or f"{method} {path}",
        [
            *_find_path_conditions(operation, method, path),
            *_find_sent_conditions(entry, parts.query),
        ],
        re.sub(r"[^a-z0-9._-]+", "-", f"{name}-{status}".replace("_", "-").replace(".", "-")),
        f"Answers {method} {path} with {status}, as request {entry['id']} was answered.",
        _read_answer(entry),
    )


def _find_path_conditions(operation: Operation | None, method: str, path: str) -> list[Condition]:
    if operation is None:
        return []
    router = Router(
        (operation.method, each, operation) for each in (operation.path, *operation.also)
    )
    found = router.find(method, path).params
    return [Condition("path", name, value, usual=True) for name, value in found.items()]


def _find_sent_conditions(entry: Mapping[str, Any], query: str) -> list[Condition]:
    sent, _ = first_values(decode_pairs(query))
    found = [("query", name, value) for name, value in sent.items()]
    body, kind = entry["request"]["body"]["text"], entry["request"]["body"]["content_type"] or ""
    if "json" in kind:
        found += [("json", name, value) for name, value in _read_object(body).items()]
    elif "x-www-form-urlencoded" in kind:
        pairs = parse_qsl(body, keep_blank_values=True)
        found += [("form", name, value) for name, value in first_values(pairs)[0].items()]
    return [
        Condition(place, name, value, usual=place == "query" and name not in _CHANGING)
        for place, name, value in found
        if not name.startswith("oauth_") and _is_plain(value)
    ]


def _is_plain(value: Any) -> bool:
    """Whether a person would match on a value: a short text, a number or a truth value."""
    if isinstance(value, str):
        return MASK not in value and len(value) <= _MAX_CONDITION
    return isinstance(value, bool | int | float)


def _read_object(text: str) -> dict[str, Any]:
    try:
        value = loads(text.encode())
    except BadJson:
        return {}
    return value if isinstance(value, dict) else {}


def _read_answer(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer as the effect `respond` takes it."""
    respond: dict[str, Any] = {"status": entry["status"]}
    body = entry["response"]["body"]
    kind, kept = body["content_type"] or "", {}
    for name, value in entry["response"]["headers"]:
        lower = name.lower()
        if lower in _KEPT_HEADERS or lower.startswith(_KEPT_PREFIXES):
            kept[name] = value
    text = body["text"]
    if text and "json" in kind:
        try:
            respond["json"] = loads(text.encode())
        except BadJson:  # it was too long to be kept whole
            respond["text"] = text
    elif text:
        respond["text"] = text
    if kind and text and not kind.startswith("application/json"):
        kept["Content-Type"] = kind
    return respond | ({"headers": kept} if kept else {})


def _literal(value: Any) -> Any:
    """Return a value as a scenario that means this value: a text may look like a parameter."""
    if isinstance(value, str):
        return f"${value}" if value.startswith("$") else value
    if isinstance(value, dict):
        return {name: _literal(each) for name, each in value.items()}
    return [_literal(each) for each in value] if isinstance(value, list) else value


# A request saved as a scenario: choose what it matches, look at the file, take it along.

ACTIONS = ("preview", "download", "save", "define")
_MATCH = "match"


class _Draft(Struct, frozen=True):
    """The file as it would be saved."""

    name: str
    text: str
    suffix: str
    matched: frozenset[str]

    @property
    def file(self) -> str:
        """The name of the file."""
        return f"{self.name}{self.suffix}"


def draft_scenario(request: ControlRequest) -> Response:
    """Return the form that makes a scenario of a request."""
    seen = _read_entry(request)
    usual = frozenset(each.key for each in seen.conditions if each.usual)
    return _show_draft(request, seen, _draft(seen, {}, usual))


def act_on_draft(request: ControlRequest) -> Response:
    """Show the draft again, or download it, save it, or define it in this world."""
    seen, values = _read_entry(request), read_form(request)
    draft = _draft(seen, values, frozenset(request.flask.form.getlist(_MATCH)))
    action = values.get("action", "preview")
    said: list[str] = []
    refused = attempt(values, lambda: said.append(_act(request, draft, action, values)))
    if refused is not None:
        return _show_draft(request, seen, draft, refused)
    if action == "download":
        return Response(
            draft.text,
            content_type="application/yaml; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{draft.file}"'},
        )
    if action == "preview":
        return _show_draft(request, seen, draft, FormState(values))
    return go(request, f"/console/requests/{request.args['key']}", said=said[0])


def _act(request: ControlRequest, draft: _Draft, action: str, values: Mapping[str, str]) -> str:
    """Do what a button says; return what to tell.

    Raises:
        ControlRefusal: The draft has faults, or cannot be saved.
    """
    if action not in ACTIONS:
        raise ControlRefusal(422, f"The action {action!r} does not exist: {', '.join(ACTIONS)}.")
    checked = check_scenario_text(request.platform, draft.text, f"scenario{draft.suffix}")
    if checked.scenario is None:
        raise refuse_text(checked.complaints, "The scenario cannot be used")
    if action == "save":
        folder = find_scenario_folder(request.platform)
        overwrites = values.get("replace") == "on"
        saved = save_scenario(request.platform, draft.text, draft.file, folder, replace=overwrites)
        return f"The scenario {draft.name} was saved as {saved.file}."
    if action == "define":
        whole = dict(checked.scenario.document)
        put_scenario(replace(request, args={"name": draft.name}, body=whole))
        return f"This world knows the scenario {draft.name} now; switch it on under Scenarios."
    return ""


def _read_entry(request: ControlRequest) -> SeenRequest:
    found = find_entry(request.platform, request.world, request.args["key"])
    if not 200 <= found.status <= 599:
        raise ControlRefusal(422, "No answer was sent, so a scenario has none to repeat.")
    return read_seen(request.platform, found.as_json())


def _draft(seen: SeenRequest, values: Mapping[str, str], matched: frozenset[str]) -> _Draft:
    name = values.get("name", seen.name).strip()
    description = values.get("description", seen.description).strip()
    text, suffix = write_document(seen.make_document(name, description, matched))
    return _Draft(name, text, suffix, matched)


def _show_draft(
    request: ControlRequest, seen: SeenRequest, draft: _Draft, form: FormState | None = None
) -> Response:
    checked = check_scenario_text(request.platform, draft.text, f"scenario{draft.suffix}")
    if form is None or not form.text:
        form = form or FormState()
        if checked.scenario is None:  # what is typed is explained as it is typed
            form = refuse_form(form.values, refuse_text(checked.complaints, "It has faults"))
    folders = request.platform.start_up.folders
    oddities = [complaint.text for complaint in checked.warnings]
    if request.origin in draft.text:
        oddities.append(
            f"The answer contains this server's address, {request.origin}, which will be the same "
            "wherever the scenario is used."
        )
    data: dict[str, Any] = {
        "key": request.args["key"],
        "seen": seen,
        "draft": draft,
        "folder": folders[0] if folders else None,
        "oddities": oddities,
    }
    return render(request, "entry_scenario.html", block="preview", form=form, **data)


_PATH = "/console/requests/<key>/scenario"
ROUTES = (
    Route("GET", _PATH, draft_scenario, media_type=HTML),
    Route("POST", _PATH, act_on_draft, media_type=HTML, form=True),
)
