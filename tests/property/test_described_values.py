"""The description against what is served: what it allows is accepted, what it forbids is refused.

Every closed set that the description shows is tried, in paths, queries, forms and JSON bodies: each
value of an enumeration, texts that fit a pattern, and others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote, unquote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.control.routes import describe_everything
from mock_platform.core.jsonio import dumps
from mock_platform.world.names import DEFAULT
from tests.generated import examples
from tests.property.test_any_bytes import bare_environ
from tests.property.test_schemathesis import family_of
from tests.support import ACCOUNT, Sandbox, sandbox

BASE_URL = "http://localhost"
FORM = "application/x-www-form-urlencoded"
ODD = "zzz_none"
"""In no enumeration, and no pattern fits it by accident."""
ADDRESSED = {
    "account_id": ACCOUNT, "pixel_id": "o8z6j", "table": "users", "kind": "replay_job", "name": "w1"
}  # fmt: skip
COMPANIONS: dict[str, dict[str, Any]] = {
    "x_auth_access_type": {"oauth_callback": "oob"},
    "event_type": {"webhook_id": "1", "payload": {}},
    "_direction": {"webhook_id": "1", "payload": {}, "event_type": "dm.sent"},
}
"""Parameters without which others are not looked at."""
FAMILIES = ("v2", "oauth", "ads", "control")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the description allows only some values.

    `steps` lead to it in a JSON body: names of fields, and `[]` for the first item of an array.
    """

    method: str
    path: str
    where: str
    steps: tuple[str, ...]
    schema: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of the parameter or field."""
        return [step for step in self.steps if step != "[]"][-1]

    def __str__(self) -> str:
        """As a test that fails shows it."""
        return f"{self.method} {self.path} {self.where} {'.'.join(self.steps)}"

    def allowed(self) -> Sequence[str]:
        """The values of an enumeration."""
        listed = self.schema.get("enum") or [
            value for form in self.schema.get("anyOf", ()) for value in form.get("enum", ())
        ]
        return [value for value in listed if value is not None]

    @property
    def is_list(self) -> bool:
        """Whether several values may stand there, with commas between them."""
        return self.steps[-1] == "[]" and self.where in {"query", FORM}

    @property
    def pattern(self) -> str | None:
        """The pattern, where there is no enumeration."""
        return None if self.allowed() else self.schema.get("pattern")


def places(document: dict[str, Any], family: str) -> list[Place]:
    """Every place in a family of operations at which only some values are allowed."""
    found: list[Place] = []
    for path, item in document["paths"].items():
        plain = path.removeprefix("/sandbox")
        if family_of(path) != family or (plain != path and plain in document["paths"]):
            continue  # the sandbox describes most operations like the plain address
        for method, entry in item.items():
            if entry.get("deprecated"):
                continue  # the retired replay answers 410 to everything
            for parameter in entry.get("parameters", ()):
                for steps, schema in leaves(document, parameter["schema"], (parameter["name"],)):
                    found.append(Place(method.upper(), path, parameter["in"], steps, schema))
            for media_type, media in entry.get("requestBody", {}).get("content", {}).items():
                if media_type in {FORM, "application/json"}:
                    for steps, schema in leaves(document, media["schema"], ()):
                        found.append(Place(method.upper(), path, media_type, steps, schema))
    return found


def leaves(
    document: dict[str, Any], schema: dict[str, Any], steps: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The closed sets within a schema, with the steps that lead to them."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if steps and ("enum" in schema or "pattern" in schema or _lists(schema)):
        yield steps, schema
    if "items" in schema:
        yield from leaves(document, schema["items"], (*steps, "[]"))
    for name, value in schema.get("properties", {}).items():
        yield from leaves(document, value, (*steps, name))


def _lists(schema: dict[str, Any]) -> bool:
    return any("enum" in form for form in schema.get("anyOf", ()))


ALIKE = {
    "/1.1/statuses/update card_uri",
    "/2/account_activity/webhooks/{webhook_id}/subscriptions/{user_id}/all user_id",
}
"""Parameters that are refused with one text, whatever is wrong: version 1.1 has no other, and an
unknown webhook has no users."""


_OWN_ID = "must be the same as the authenticating user"


def ask(box: Sandbox, place: Place, value: str) -> set[str]:
    """What is said against this value at that place; the value itself is left out of it."""
    return {shape(text, value) for text in listen(box, place, value)}


def listen(box: Sandbox, place: Place, value: str) -> list[str]:
    """What is said against this value, or these with commas between them, at that place."""
    addressed = ADDRESSED | kind_with(box, value)
    if place.where == "path":
        addressed |= {place.name: quote(value, safe="")}
    path = re.sub(r"\{(\w+)\}", lambda found: addressed.get(found[1], "none-such-1"), place.path)
    query, form, sent = "", "application/json", b""
    if place.where == "query":
        query, form = urlencode({place.name: value}), ""
    elif place.where == FORM:
        form = FORM
        sent = urlencode(COMPANIONS.get(place.name, {}) | {place.name: value}).encode()
    elif place.where == "path":
        sent = dumps({"to": "x"} if place.method == "POST" else {})
    else:
        body: Any = value
        for step in reversed(place.steps):
            body = [body] if step == "[]" else {step: body}
            if step == "params":  # the items of a batch say which of its operations they are
                body |= {"operation_type": "Create"}
        if len(place.steps) == 1:
            body = COMPANIONS.get(place.name, {}) | body
        sent = dumps(body)
    environ = bare_environ(place.method, unquote(path, "latin-1"), query, sent) | {
        "REQUEST_URI": f"{path}?{query}" if query else path,
        "CONTENT_TYPE": form,
        "CONTENT_LENGTH": str(len(sent)),
    }
    status, answer = call(box, environ)
    for world in [world.name for world in box.platform.worlds if world.name != DEFAULT]:
        box.platform.worlds.drop(world)
    box.world.journal.clear()  # else each page of the journal would be longer than the last
    return objections(answer, place.name, status)


def call(box: Sandbox, environ: dict[str, Any]) -> tuple[int, Any]:
    """The status of an answer, and the JSON of a refusal. A client would take half of the time."""
    lines: list[str] = []

    def start(line: str, headers: list[tuple[str, str]], _exc: object = None) -> Any:
        lines.append(line)
        return lambda _: None

    parts = box.app.wsgi_app(environ, start)
    status, answer = int(lines[0][:3]) if lines else 0, None
    try:
        # A stream that is opened does not end, and what is accepted says nothing against a value.
        if status >= 400:
            answer = json.loads(b"".join(parts))
    except ValueError:
        pass  # a page
    finally:
        if hasattr(parts, "close"):
            parts.close()
    return status, answer


def kind_with(box: Sandbox, state: str) -> dict[str, str]:
    """The kind of transition that has such a state: each has others."""
    kinds = box.world.transitions.kinds.values()
    return next(({"kind": kind.name} for kind in kinds if state in kind.states), {})


def objections(answer: Any, name: str, status: int) -> list[str]:
    """The faults of a refusal that are about this parameter."""
    if status < 400 or not isinstance(answer, dict):
        return []
    if answer.get("type", "").endswith("/resource-not-found"):
        return []  # the value was read, and names nothing
    errors = [*answer.get("errors", ()), *answer.get("faults", ())]
    errors += [error for item in answer.get("operation_errors", ()) for error in item]
    if not errors:
        return [
            answer.get("detail") or answer.get("message") or answer.get("error_description", "")
        ]
    return [
        entry["message"]
        for entry in errors
        if is_about(entry.get("parameter", entry.get("field", name)), name)
    ]


def is_about(where: str, name: str) -> bool:
    """Whether a way such as `components[0].type` ends in this field; names may have dots."""
    return where == name or re.sub(r"\[\d+\]", "", where).rpartition(".")[2] == name


def shape(text: str, value: str) -> str:
    """A refusal without the value that it is about."""
    before = re.sub(r"value \[.*?\] ", "value […] ", text.partition(", got ")[0])
    return before.replace(repr(value), "…").replace(json.dumps(value), "…")


@pytest.fixture(scope="module")
def box() -> Sandbox:
    """A sandbox that authenticates no one."""
    return sandbox(auth="off")


@pytest.fixture(scope="module")
def document(box: Sandbox) -> dict[str, Any]:
    """Its description."""
    return describe_everything(box.platform).at(BASE_URL)


@pytest.mark.parametrize("family", FAMILIES)
def test_enumerations(box: Sandbox, document: dict[str, Any], family: str) -> None:
    """Each value of an enumeration is accepted; others, and those in another case, are refused."""
    found = [place for place in places(document, family) if place.allowed()]
    assert found or family == "v2"

    for place in found:
        refusals = ask(box, place, ODD)
        allowed = [str(value) for value in place.allowed()]  # of numbers, too
        # One request for all values of a list: a refusal names those that it is about.
        joint = listen(box, place, ",".join(allowed)) if place.is_list else []
        for value in allowed:
            said = joint if place.is_list else listen(box, place, value)
            assert refusals - {shape(text, value) for text in said}, (
                f"{place}: {value!r} is taken like {ODD!r}"
            )
        taken = ask(box, place, allowed[0])
        for value in {allowed[0].swapcase(), f"{allowed[0]}x"} - {*allowed}:
            assert ask(box, place, value) - taken, f"{place}: {value!r} is taken"


@pytest.mark.parametrize("family", FAMILIES)
def test_patterns(box: Sandbox, document: dict[str, Any], family: str) -> None:
    """Texts that fit a pattern are accepted, others are refused."""
    found = [
        (place, place.pattern)
        for place in places(document, family)
        if f"{place.path.removesuffix('.json')} {place.name}" not in ALIKE
    ]
    for place, pattern in found:
        if pattern is not None:
            compare_pattern(box, place, make_texts(pattern))


def compare_pattern(box: Sandbox, place: Place, texts: Texts) -> None:
    """Try the texts that fit and those that do not."""
    fits = place.pattern is not None and re.fullmatch(place.pattern, "a b c", re.ASCII)
    refusals = ask(box, place, texts.others[0] if fits else "a b c")
    # Of the callers' own id, which is in many paths, every other value is refused in one way.
    is_own = any(_OWN_ID in text and f"`{place.name}`" in text for text in refusals)
    for text in () if is_own else texts.fitting:
        assert refusals - ask(box, place, text), f"{place}: {text!r} is taken like 'a b c'"
    for text in texts.others:
        said = ask(box, place, text)
        # In a path a slash, encoded or not, may lead to no route at all.
        assert said if place.where == "path" else said & refusals, f"{place}: {text!r} is taken"


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts that fit a pattern, and others. Making them up takes longer than trying them."""

    fitting: list[str]
    others: list[str]


@cache
def make_texts(pattern: str) -> Texts:
    """Three of each in the usual run."""
    whole = re.compile(pattern, re.ASCII)
    fitting = st.from_regex(whole, fullmatch=True).filter(lambda text: "\n" not in text)
    others = st.text("aZ09:/-_. ", min_size=1, max_size=70)
    return Texts(draw(fitting), draw(others.filter(lambda text: not whole.search(text))))


def draw(texts: st.SearchStrategy[str]) -> list[str]:
    """What a test with this strategy would be called with."""
    drawn: list[str] = []

    @examples(3)
    @given(texts)
    def collect(text: str) -> None:
        drawn.append(text)

    collect()
    return drawn
