"""`docs/scenarios.md`: every scenario of the package, with a command that shows it.

The answer that the page shows for a scenario comes from a real request, sent to a sandbox in this
process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from werkzeug.test import TestResponse

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.control.examples import Sample, sample
from mock_platform.control.scenario_cards import ScenarioCard, make_cards
from mock_platform.core.auth.tester_access import Credentials, environment
from mock_platform.core.curl import WITH_HEADERS, Variable, write_curl
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import MINUTE, Operation
from mock_platform.platform import Platform
from mock_platform.scenario.deliveries import DELIVERIES, LINES
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import Rule, Scenario
from mock_platform.scenario.effects.disconnect import DisconnectEffect
from mock_platform.scenario.effects.fault import AFTER_COMMIT, FaultEffect
from mock_platform.scenario.groups import GROUPS
from mock_platform.serving.app import create_app

BASE_URL = "http://127.0.0.1:8080"
_FAULTS = {
    "reset": "The connection is reset before any answer.",
    "empty": "The connection is closed before any answer.",
    "truncate": "The answer ends in the middle of its body.",
    "garbage": "The answer is not HTTP.",
    "timeout": "No answer comes, and the connection stays open.",
}
_ANYWHERE = ("accounts.get", "line_items.list")
"""The operations used for a scenario that acts on all of them: any one, and a list."""
_JSON = ("Content-Type: application/json",)
_ADD_EVENT = write_curl(
    "POST",
    f"{BASE_URL}/_mock/events",
    _JSON,
    '{"webhook_id": "1146654567674912769", "event_type": "post.create", "payload": {}}',
    options=WITH_HEADERS,
)
"""The command that adds an event to the webhook of the test credentials."""
_DELIVERED = (
    "It acts on deliveries to webhooks, from replay jobs and of live events, so a request header "
    "cannot ask for it. `GET /_mock/deliveries` lists every attempt. The second command adds an "
    "event to deliver and answers `201`, `application/json`."
)
_STREAMING = ("-sSN", "--max-time", "5")
_OPEN_STREAM = (
    write_curl(
        "GET",
        f"{BASE_URL}/2/activity/stream",
        [("Authorization: Bearer ", Variable("MOCK_PLATFORM_BEARER_TOKEN"))],
        options=_STREAMING,
    )
    + " &"
)
_EMIT = write_curl(
    "POST",
    f"{BASE_URL}/_mock/events",
    _JSON,
    '{"event_type": "profile.update.bio", "user_id": "2244994945"}',
    options=WITH_HEADERS,
)
_STREAMED = (
    "It acts on lines of streams, so a request header cannot ask for it. The second command opens "
    "a stream, and the third one lets something happen."
)
_ENDED = (
    "Answers `200`, and the stream ends, breaks or goes silent later, as the scenario says. The "
    "command ends after five seconds at the latest."
)
_INTRODUCTION = """\
# Scenarios

Made by `make docs` from the files in `scenarios/`; do not edit.

COUNT failures and other unusual behaviours that you can activate:

- for all requests in a world: `mock-platform on NAME KEY=VALUE`, the page *Scenarios* of
  [the console](console.md), or `POST /_mock/scenarios/NAME/activate` (parameters as
  `{"parameters": {…}}`),
- from the start of a server: `serve --scenario NAME`,
- in Python: `platform.activate("NAME", …)`, for a test `@pytest.mark.mock_scenario("NAME", …)`,
- for a single request: the header `X-Mock-Scenario: NAME`.

If a parameter is `null`, it restricts nothing, or its value is taken from the request. Each
scenario quotes the sentence that it is based on: *B, Line items* is a heading of
[document B](glossary.md#document-a-document-b).
[How to write your own](for-qa.md#a-scenario-of-your-own).

The commands below are for a server on port 8080 and need these shell variables:

```bash
eval "$(mock-platform credentials)"
minute=$(date -u +%Y%m%d%H%M)
```
"""


def write_page() -> str:
    """Returns the page."""
    platform = Platform()
    page = _Page(platform)
    shipped = list(platform.library)
    parts = [_INTRODUCTION.replace("COUNT", str(len(shipped)))]
    found = {scenario.name: scenario for scenario in shipped}
    cards = make_cards(platform, shipped)
    for group, title in GROUPS.items():
        own = [card for card in cards if card.group == group]
        if own:
            parts += [f"## {title}", "", "| scenario | answer | by default on |", "|---|---|---|"]
            parts += [_row(card) for card in own]
            parts += ["", *(page.section(found[card.name]) for card in own)]
    return "\n".join(parts).rstrip("\n") + "\n"


class _Page:
    def __init__(self, platform: Platform) -> None:
        self._world = platform.worlds.default
        self._engine = find_engine(self._world)
        self._client = create_app(platform).test_client()
        self._operations = {operation.id: operation for operation in platform.operations}
        self._credentials: Credentials = credentials(platform.worlds.default)

    def section(self, scenario: Scenario) -> str:
        rules = scenario.bind({})
        rule = next((rule for rule in rules if rule.expected), rules[0])
        commands, outcome = self._shown(scenario, rule)
        lines = [f"### {scenario.name}", "", " ".join(scenario.description.split()), ""]
        lines += [f"> {' '.join(scenario.spec.split())}", ""]
        if scenario.parameters:
            lines += ["| parameter | default |", "|---|---|"]
            lines += [f"| `{n}` | `{dumps(v).decode()}` |" for n, v in scenario.parameters.items()]
            lines.append("")
        lines += ["```bash", *commands, "```", "", outcome, ""]
        return "\n".join(lines)

    def _shown(self, scenario: Scenario, rule: Rule) -> tuple[list[str], str]:
        """Returns shell commands that show a scenario, and a sentence with their result."""
        if rule.on == (DELIVERIES,):
            return [_activation(scenario), _ADD_EVENT], _DELIVERED
        if rule.on == (LINES,):
            return [_activation(scenario), _OPEN_STREAM, _EMIT], _STREAMED
        shown = sample(_shown_on(rule, self._operations), self._credentials, _conditions(rule))
        return self._commands(scenario, rule, shown), self._outcome(scenario, rule, shown)

    def _commands(self, scenario: Scenario, rule: Rule, shown: Sample) -> list[str]:
        variables = environment(self._credentials)
        if rule.first == 1:
            asked = f"X-Mock-Scenario: {scenario.name}"
            ends = not any(isinstance(effect, DisconnectEffect) for effect in rule.effects)
            options = WITH_HEADERS if ends else ("-sSiN", *_STREAMING[1:])
            return [shown.write_curl(BASE_URL, variables, asked, options=options)]
        calls = " ".join(str(number) for number in range(1, rule.first + 1))
        curl = shown.write_curl(BASE_URL, variables, options=WITH_HEADERS)
        return [
            _activation(scenario),
            f"for call in {calls}; do\n{curl}\ndone",
        ]

    def _outcome(self, scenario: Scenario, rule: Rule, shown: Sample) -> str:
        for effect in rule.effects:
            if isinstance(effect, DisconnectEffect):
                return _ENDED
            if isinstance(effect, FaultEffect):
                after = effect.stage == AFTER_COMMIT
                kept = f"The changes of the request are {'kept' if after else 'undone'}."
                return f"{_FAULTS[effect.fault]} {kept}"
        self._engine.activate(scenario.name)
        answer = self._send(shown)
        for _ in range(1, rule.first):
            answer = self._send(shown)
        self._require_firing(scenario, shown, answer)
        self._world.reset()
        first = "Answers" if rule.first == 1 else "The last one answers"
        told = f"{first} `{answer.status_code}`, `{answer.mimetype}`"
        return f"{told}{_codes(answer)}."

    def _require_firing(self, scenario: Scenario, shown: Sample, answer: TestResponse) -> None:
        """A command that shows something else than its scenario must not get onto the page.

        Raises:
            ValueError: No rule of the scenario acted on the request.
        """
        report: Any = self._client.get(f"/_mock/scenarios/{scenario.name}").get_json()
        if not any(rule["fired"] for rule in report["rules"]):
            raise ValueError(
                f"Scenario {scenario.name} did not act on {shown.method} {shown.path}, which was "
                f"answered with {answer.status_code}: {answer.text}"
            )

    def _send(self, shown: Sample) -> TestResponse:
        minute = self._world.clock.now().strftime("%Y%m%d%H%M")
        body = None if shown.body is None else shown.body.replace(MINUTE, minute)
        return self._client.open(
            shown.path, method=shown.method, headers=dict(shown.headers), data=body
        )


def _row(card: ScenarioCard) -> str:
    """Returns a scenario as a row of the table of its group."""
    return f"| [{card.name}](#{card.name}) | {', '.join(card.outcomes)} | {card.on} |"


def _activation(scenario: Scenario) -> str:
    address = f"{BASE_URL}/_mock/scenarios/{scenario.name}/activate"
    return write_curl("POST", address, options=("-sSf", "-o", "/dev/null"), between=" ")


def _shown_on(rule: Rule, operations: Mapping[str, Operation]) -> Operation:
    """Returns the operation that the page uses for a rule."""
    if len(rule.on) < len(operations):
        return operations[rule.on[0]]
    return operations[_ANYWHERE["with_total_count" in _conditions(rule)]]


def _conditions(rule: Rule) -> tuple[str, ...]:
    return tuple(rule.when.get("query", ()))


def _codes(answer: TestResponse) -> str:
    """Returns the part of the outcome that names the failure in the body."""
    body: Any = answer.get_json(silent=True)
    if not isinstance(body, dict):
        return ""
    if "type" in body and "title" in body:
        return f", problem `{_slug(body)}`"
    errors = body.get("errors") or [
        error for errors in body.get("operation_errors", ()) for error in errors
    ]
    if errors and "type" in errors[0]:
        return f", problem `{_slug(errors[0])}` in `errors`"
    if errors:
        return f", code `{errors[0]['code']}`"
    return f", code `{body['code']}`" if "code" in body else ""


def _slug(problem: Mapping[str, Any]) -> str:
    return str(problem["type"].rpartition("/problems/")[2])
