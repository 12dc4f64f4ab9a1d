from __future__ import annotations

import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mock_platform.api.served import OPERATIONS
from mock_platform.core.documents.source import read
from mock_platform.core.failures.problems import PROBLEM_TYPES
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.document import Scenario, load
from mock_platform.scenario.library import check
from mock_platform.scenario.schema import json_schema
from tests.scenario.library.support import FOLDER, NAMES

CATALOG = Catalog.collect(OPERATIONS)
IDS = CATALOG.ids
NAMED = {
    "replay-conflict",
    "token-invalidated",
    "token-requests-too-frequent",
    "direct-messages-not-permitted",
    "line-item-deleted-twice",
    "line-item-delete-retried",
    "usage-capped",
}


def scenario(name: str) -> Scenario:
    """A shipped scenario."""
    return load(FOLDER / f"{name}.yaml", CATALOG)


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    """The published JSON Schema."""
    schema: dict[str, Any] = json_schema(IDS)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("name", NAMES)
def test_each_file_fits_the_json_schema(name: str, validator: Draft202012Validator) -> None:
    """The published schema takes what is shipped."""
    file = FOLDER / f"{name}.yaml"

    assert [] == [
        fault.message for fault in validator.iter_errors(read(file, file.read_bytes()).data)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_each_file_is_called_like_its_scenario_and_explains_itself(name: str) -> None:
    """Name, description in a sentence, and the place of the specification that it comes from."""
    found = scenario(name)

    assert name == found.name
    assert re.fullmatch(r"[A-Z][^\n]{20,}\.\n?", found.description)
    assert re.match(r"A, |B, |Not shown in the specification", found.spec)


@pytest.mark.parametrize("name", NAMES)
def test_each_can_be_activated_as_it_is(name: str) -> None:
    """The defaults of the parameters fit, and every parameter is used."""
    found = scenario(name)
    text = (FOLDER / f"{name}.yaml").read_text("utf-8").partition("rules:")[2]

    assert found.bind({})
    assert [] == [used for used in found.parameters if not re.search(rf"\${used}\b", text)]


def test_the_folder_has_no_faults() -> None:
    """`mock-platform check` has nothing to say."""
    found = check([FOLDER], CATALOG)

    assert ([], []) == (found.complaints, found.warnings)


def test_every_problem_type_has_its_scenario() -> None:
    """A file is called after each slug; each acts on replay unless `on` says otherwise."""
    names = {kind.name for kind in PROBLEM_TYPES.values()}

    assert set() == names - set(NAMES)
    for name in names:
        found = scenario(name)
        assert {("webhooks.replay",)} == {rule.on for rule in found.bind({})}
        assert {("accounts.get",)} == {rule.on for rule in found.bind({"on": "accounts.get"})}


def test_the_promised_names_are_there() -> None:
    """Scenarios that the documents name are in the package under that name."""
    assert set() == NAMED - set(NAMES)
