from __future__ import annotations

import pytest

from mock_platform.api import served as operations
from mock_platform.core.errors import BadParameters, BadScenario
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.document import loads

CATALOG = Catalog.collect(operations.OPERATIONS)


def faults(on: str, when: str) -> list[tuple[str, str]]:
    """Field and text of what the loader complains of."""
    text = f"name: a\nrules:\n  - on: {on}\n    when: {when}\n    then: {{error: 89}}\n"
    try:
        loads(text, CATALOG)
    except BadScenario as fault:
        return [(each.field, each.text) for each in fault.complaints]
    return []


@pytest.mark.parametrize(
    ("on", "when", "field", "text"),
    [
        ("line_items.get", "{path: {line_itm_id: x}}", "path.line_itm_id",
         "line_items.get has no path parameter 'line_itm_id'. Did you mean 'line_item_id'? "
         "Known: account_id, line_item_id."),
        ("line_items.list", "{path: {line_item_id: x}}", "path.line_item_id",
         "line_items.list has no path parameter 'line_item_id'. Known: account_id."),
        ("accounts.list", "{path: {id: x}}", "path.id",
         "accounts.list has no path parameter 'id'. Known: none."),
        ("[line_items.list, accounts.get]", "{path: {acount_id: x}}", "path.acount_id",
         "none of these operations has a path parameter 'acount_id'. Did you mean 'account_id'? "
         "Known: account_id."),
        ('"*"', "{path: {line_itm_id: x}}", "path.line_itm_id",
         "no operation has a path parameter 'line_itm_id'. Did you mean 'line_item_id'?"),
        ("GET /2/lists/:list_id", "{path: {id: x}}", "path.id",
         "GET /2/lists/:list_id has no path parameter 'id'. Known: list_id."),
        ("/2/users/:user_id/lists", "{path: {key: x}}", "path.key",
         "/2/users/:user_id/lists has no path parameter 'key'. Known: user_id, id."),
        ("line_items.list", "{query: {curser: x}}", "query.curser",
         "line_items.list has no query parameter 'curser'. Did you mean 'cursor'? Known: "),
        ("cards_poll.create", "{form: {nam: x}}", "form.nam",
         "cards_poll.create has no form parameter 'nam'. Did you mean 'name'?"),
    ],
)  # fmt: skip
def test_misspelt_names(on: str, when: str, field: str, text: str) -> None:
    """A name that no request can have is a fault, with what was meant and what there is."""
    ((place, found),) = faults(on, when)

    assert f"rules[0].when.{field}" == place
    assert found.startswith(text)


@pytest.mark.parametrize(
    ("on", "when"),
    [
        ("line_items.get", "{path: {line_item_id: x, account_id: y}}"),
        ("[line_items.list, line_items.get]", "{path: {line_item_id: x}}"),
        ('"*"', "{path: {line_item_id: x}, query: {cursor: x}}"),
        ("GET /2/lists/:id", "{path: {id: x}, query: {curser: x}}"),
        ("/2/lists", "{path: {id: x}}"),
        ("line_items.list", "{query: {cursor: x, oauth_nonce: y}}"),
        ("line_items.list", "{query: {fail-please: x}}"),
        ("cards_poll.create", "{form: {name: x}}"),
        ("webhooks.replay", "{json: {webhook_id: x}}"),
    ],
)
def test_names_that_may_be(on: str, when: str) -> None:
    """Real names pass, and so do names of one's own that look like no other."""
    assert [] == faults(on, when)


def test_a_list_from_elsewhere_has_no_parameters() -> None:
    """Of a server elsewhere the paths are known; it checks the rest itself."""
    listed = [
        {"id": op.id, "method": op.method, "path": op.path, "sandbox_only": op.sandbox_only}
        for op in operations.OPERATIONS
    ]
    catalog = Catalog.read(listed)

    loads("name: a\nrules: [{on: line_items.list, when: {query: {curser: x}}, "
          "then: {error: 89}}]", catalog)  # fmt: skip
    with pytest.raises(BadScenario, match="has no path parameter 'x'"):
        loads(
            "name: a\nrules: [{on: line_items.list, when: {path: {x: 1}}, then: {error: 89}}]",
            catalog,
        )


def test_an_operation_that_a_parameter_names() -> None:
    """The names are checked for the operation that an activation chooses."""
    scenario = loads(
        "name: a\nparameters: {on: line_items.get}\nrules:\n- on: $on\n"
        "  when: {path: {line_item_id: x}}\n  then: {error: 89}\n", CATALOG,
    )  # fmt: skip

    with pytest.raises(BadParameters, match=r"line_items\.list has no path parameter"):
        scenario.bind({"on": "line_items.list"})
