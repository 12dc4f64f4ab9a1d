from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mock_platform.api.served import OPERATIONS
from mock_platform.api.v2.release_history import RELEASES, Release
from mock_platform.platform import Platform
from mock_platform.verification.contract.compare import compare_contracts, compare_dates
from mock_platform.verification.contract.document import make_contract, read_contract
from mock_platform.verification.contract.rules import LEVELS, RULES, ContractChange
from tests.descriptions import keep_paths, validate
from tests.verification.contract.examples import (
    EXAMPLES,
    HARMLESS_EDITS,
    LEVELS_FELT,
    OTHER_EXAMPLES,
    Document,
    Edit,
    Example,
    item,
    make_document,
)


def changes(old: Document, new: Document) -> list[ContractChange]:
    """The changes between two documents."""
    return compare_contracts(read_contract(old, "old"), read_contract(new, "new"))


def edited(*edits: Edit) -> Document:
    """The small contract with these edits."""
    document = make_document()
    for edit in edits:
        edit(document)
    return document


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: f"{each.forward}")
def test_each_rule_finds_its_edit_and_nothing_else(example: Example) -> None:
    """An edit is one change, of its rule; taking it back is one change of the opposite rule."""
    (there,) = changes(make_document(), edited(example.edit))
    (back,) = changes(edited(example.edit), make_document())

    assert (example.forward, example.backward) == (there.rule, back.rule)
    if example.place:
        assert example.place == there.place


@pytest.mark.parametrize(("before", "after", "rules"), OTHER_EXAMPLES)
def test_rules_about_two_edited_documents(before: Edit, after: Edit, rules: set[str]) -> None:
    """Changed patterns, alternatives, lists and names: these rules, and nothing else."""
    assert rules == {each.rule for each in changes(edited(before), edited(after))}


@pytest.mark.parametrize("level", LEVELS_FELT)
def test_level(level: str) -> None:
    """A change has the level that clients feel."""
    assert {level} == {RULES[rule].level for rule in LEVELS_FELT[level]}


def test_every_rule_has_an_example() -> None:
    """No rule is without an edit that shows it."""
    shown = {rule for each in EXAMPLES for rule in (each.forward, each.backward)}
    shown |= {rule for _, _, rules in OTHER_EXAMPLES for rule in rules}

    shown.add("behaviour-changed")  # which only dates of the release history bring

    assert set(RULES) == shown


@pytest.mark.parametrize("edit", HARMLESS_EDITS)
def test_what_no_client_notices_is_no_change(edit: Edit) -> None:
    """Words, examples and the order of lists whose order means nothing are no changes."""
    assert [] == changes(make_document(), edited(edit))


def test_one_spelling_of_a_path_is_another_spelling_of_its_parameter() -> None:
    """Renaming a path parameter changes nothing for clients."""

    def rename(document: Document) -> None:
        paths = document["openapi"]["paths"]
        paths["/items/{id}"] = paths.pop("/items/{item_id}")
        paths["/items/{id}"]["get"]["parameters"][0]["name"] = "id"

    assert [] == changes(make_document(), edited(rename))


def test_a_schema_that_contains_itself_is_compared_once() -> None:
    """A recursive schema does not loop, and its change is found."""

    def nest(document: Document) -> None:
        item(document)["properties"]["parent"] = {"$ref": "#/components/schemas/Item"}

    def drop(document: Document) -> None:
        del item(document)["properties"]["id"]

    (found,) = changes(edited(nest), edited(nest, drop))

    assert ("answer-key-removed", "answer 200: data[].id") == (found.rule, found.place)


def test_older_form_of_openapi() -> None:
    """`nullable` and an exclusive bound of OpenAPI 3.0 mean what 3.1 writes otherwise."""

    def old(document: Document) -> None:
        item(document)["properties"]["name"].update(nullable=True)
        item(document)["properties"]["amount"].update(exclusiveMinimum=True)

    def new(document: Document) -> None:
        item(document)["properties"]["name"].update(type=["string", "null"])
        amount = item(document)["properties"]["amount"]
        amount["exclusiveMinimum"] = amount.pop("minimum")

    assert [] == changes(edited(old), edited(new))


def test_plain_openapi_files_are_compared_in_what_they_have() -> None:
    """Without failures and limits of the contract, only the description is compared."""
    new = edited(lambda d: d["operations"]["items.get"].update(limits={}))

    assert [] == changes(make_document()["openapi"], new)
    assert [] == changes(make_document(), new["openapi"])


def test_changes_are_in_order() -> None:
    """By operation, the gravest first, and what belongs to the whole contract at the end."""
    found = changes(
        make_document(),
        edited(*(each.edit for each in EXAMPLES if "operation-" not in each.forward)),
    )
    ranks = [(each.operation == "", each.operation, LEVELS.index(each.level)) for each in found]

    assert sorted(ranks) == ranks


def test_the_contract_of_the_package() -> None:
    """All of its operations are read, nothing differs from itself, and it is valid OpenAPI 3.1.

    What it has below /2 is validated by the tests of the description of v2.
    """
    platform = Platform()
    contract = make_contract(platform)
    platform.close()
    read = read_contract(contract, "x")

    assert {each.id for each in platform.operations} <= {each.id for each in read.operations}
    assert all(each.more for each in read.operations if "(" not in each.id)
    assert [] == compare_contracts(read, read)
    validate(keep_paths(contract["openapi"], lambda path: not path.startswith("/2/")))
    assert "3.1.0" == contract["openapi"]["openapi"]


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.id)
def test_each_row_of_the_release_history_changes_operations(release: Release) -> None:
    """What it changes is there the moment it takes effect, and is undone the other way round."""
    before, then = release.effective - timedelta(seconds=1), release.effective
    forth = compare_dates(OPERATIONS, before, then)
    back = compare_dates(OPERATIONS, then, before)

    assert forth
    assert {(each.operation, each.place) for each in forth} == {
        (each.operation, each.place) for each in back
    }
    assert {"operation-added", "operation-removed"} != {each.rule for each in forth}
    assert {each.rule for each in (*forth, *back)} <= set(RULES)
    assert not compare_dates(OPERATIONS, then, then)


def test_of_an_operation_that_begins_or_ends_only_that_is_a_change() -> None:
    """An announced end counts by itself, and not beside the end."""
    announced, ended = (datetime(2026, 3, day, 20, tzinfo=UTC) for day in (20, 25))
    before = datetime(2026, 3, 1, tzinfo=UTC)
    replay = [each for each in OPERATIONS if not each.exists_at(ended)]

    rules = [
        [each.rule for each in compare_dates(replay, *dates)]
        for dates in ((before, announced), (announced, before), (before, ended), (ended, ended))
    ]
    assert [["operation-deprecated"], ["operation-restored"], ["operation-removed"], []] == rules
