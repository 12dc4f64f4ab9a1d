"""Refusals as one table a family: a row says what is sent, what comes back, and which rule it is.

```python
create = partial(Refusal, f"POST /12/accounts/{ACCOUNT}/tracking_tags")
REFUSED = [
    create("a tag of another kind", 400, [("INVALID_PARAMETER", "tracking_tag_type")],
           query=TAG | {"tracking_tag_type": "PIXEL"}, spec={"B, Tracking tags": ["POST /12"]}),
]

@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    row.check(box)
```

Where a test would do nothing else, `test_what_is_refused = make_refusal_test(REFUSED)` is the same.

`tests/spec` reads the `spec` of rows from the source, so a row is written where it is decorated: in
the decorator, or in a list of the same module that the decorator names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.spec.rows import Rows
from tests.support import HARBOR, Keys, Sandbox, faults

_NO_BODY: Any = object()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that is refused; what is not named is not looked at.

    `request` is method and path; `{name}` in it is filled in by `check`. `holds` is the id of the
    test: what is refused, in words. `errors` are code and parameter of each error of the
    advertising interface, all of them in their order.
    """

    request: str
    holds: str
    status: int
    errors: Sequence[tuple[str, str | None]] = ()
    _: KW_ONLY
    query: Mapping[str, Any] | str = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    json: Any = _NO_BODY
    keys: Keys | str | None = HARBOR
    more: Mapping[str, Any] = field(default_factory=dict)
    """What else the client sends: `data`, `headers`, `content_type`."""
    given: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    """Fields that stored records have before, by table and key."""
    messages: Sequence[str] = ()
    """A part of the message of each of `errors` in the body, in their order."""
    problem: str | None = None
    """The end of a problem's type: its slug, or `about:blank`."""
    shows: Mapping[str, Any] = field(default_factory=dict)
    """Members of the JSON body; of an object in it, those members that matter."""
    text: str = ""
    """A part of the body, or of the `detail` where a problem is expected."""
    stores: bool = False
    """Whether the refused request may change records all the same."""
    spec: Rows = field(default_factory=dict)
    """The rows of the documents that it checks, by heading; of a limit, its outside."""

    def __post_init__(self) -> None:
        if not (self.errors or self.messages or self.problem or self.shows or self.text):
            raise ValueError(f"{self.holds}: a status alone does not tell one refusal from another")

    def check(self, box: Sandbox, **parts: str) -> TestResponse:
        """Send the request, compare all that the row expects, and return the answer."""
        for (table, key), fields in self.given.items():
            box.change(table, key, **fields)
        request = self.request.format_map(parts) if parts else self.request
        method, path = request.split(" ", 1)
        more = dict(self.more) | ({} if self.json is _NO_BODY else {"json": self.json})
        before = _versions(box)
        response = box.call(
            method, path, keys=self.keys, form=self.form, query_string=self.query, **more
        )

        assert self.status == response.status_code, response.text
        if self.errors:
            assert list(self.errors) == faults(response), response.text
        if self.messages:
            found = [error["message"] for error in response.get_json()["errors"]]
            assert len(self.messages) == len(found), found
            for expected, message in zip(self.messages, found, strict=True):
                assert expected in message, message
        if self.problem is not None:
            slug = str(response.get_json().get("type")).rpartition("/problems/")[2]
            assert ("application/problem+json", self.problem) == (response.mimetype, slug), slug
        if self.shows:
            shown = response.get_json()
            assert self.shows == _keep(shown, self.shows), shown
        if self.text:
            body = response.text if self.problem is None else response.get_json()["detail"]
            assert self.text in body, body
        assert self.stores or before == _versions(box), "a refused request changed records"
        return response


def refusals(rows: Iterable[Refusal]) -> pytest.MarkDecorator:
    """Make of a test with the parameter `row` one test for each refusal, with its `mark.spec`."""
    rows = list(rows)
    doubled = [holds for holds, number in Counter(row.holds for row in rows).items() if number > 1]
    if doubled:
        raise ValueError(f"each refusal needs an id of its own, several are called {doubled}")
    return pytest.mark.parametrize(
        "row",
        [
            pytest.param(row, id=row.holds, marks=[pytest.mark.spec(row.spec)] if row.spec else [])
            for row in rows
        ],
    )


def make_refusal_test(rows: Iterable[Refusal]) -> Callable[[Sandbox, Refusal], None]:
    """Make the test of a table whose rows need nothing but the fixture `box`."""

    @refusals(rows)
    def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
        """Each refusal says what was wrong, and changes nothing."""
        row.check(box)

    return test_what_is_refused


def _versions(box: Sandbox) -> dict[str, int]:
    """How often each table changed."""
    store = box.world.store
    return {table: store.version(table) for table in store.tables()}


def _keep(found: Any, expected: Any) -> Any:
    """What was found, without the members of objects that are not expected."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        return {name: _keep(found[name], expected[name]) for name in expected if name in found}
    if isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        return [_keep(one, other) for one, other in zip(found, expected, strict=True)]
    return found
