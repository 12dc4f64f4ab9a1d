"""The audience estimate: what criteria are accepted, and how the size behaves (document B)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from mock_platform.api.ads.targeting.audience_estimate import PRIMARY, RESTRICTING, estimate
from mock_platform.api.ads.targeting.criteria import TYPES
from mock_platform.world.ids import Ids
from tests.oauth_steps import last
from tests.support import ACCOUNT, Sandbox, data_of, faults, refusal, sandbox

PATH = f"/12/accounts/{ACCOUNT}/audience_estimate"
COFFEE = {"targeting_type": "BROAD_KEYWORD", "targeting_value": "coffee"}
AMERICA = {"targeting_type": "LOCATION", "targeting_value": "96683cc9126741d1"}
CRITERIA = "targeting_criteria"
TYPE, VALUE = f"{CRITERIA}[0].targeting_type", f"{CRITERIA}[0].targeting_value"
INVALID, MISSING = "INVALID_PARAMETER", "MISSING_PARAMETER"


def post(box: Sandbox, body: Any) -> TestResponse:
    """One request."""
    return box.call("POST", PATH, json=body)


def size(box: Sandbox, *criteria: dict[str, str], **more: str) -> tuple[int, int]:
    """The estimated size of the audience of these criteria."""
    found = data_of(post(box, {CRITERIA: criteria, **more}))["audience_size"]
    return found["min"], found["max"]


class TestRequest:
    """What may be sent."""

    @pytest.mark.spec("B, Accounts", "POST /12/accounts/:account_id/audience_estimate")
    @pytest.mark.spec("B, Not shown", "Audience estimate")
    @pytest.mark.spec("B, What public facts and settled questions add", "JSON endpoints")
    def test_shape(self, box: Sandbox) -> None:
        """The answer is a size from min to max; the criteria are echoed as null."""
        body = post(box, {CRITERIA: [COFFEE, AMERICA]}).get_json()

        assert body["request"] == {"params": {"targeting_criteria": None, "account_id": ACCOUNT}}
        assert set(body["data"]) == {"audience_size"}
        assert set(body["data"]["audience_size"]) == {"min", "max"}
        assert 0 < body["data"]["audience_size"]["min"] < body["data"]["audience_size"]["max"]

    @pytest.mark.spec("B, Accounts", "POST /12/accounts/:account_id/audience_estimate")
    @pytest.mark.parametrize("operator", ["EQ", "NE"])
    def test_primary(self, box: Sandbox, operator: str) -> None:
        """One criterion of any primary type is enough, whichever operator it has."""
        more = {"targeting_value": "x", "operator_type": operator}

        assert all(size(box, {"targeting_type": kind, **more}) for kind in PRIMARY)

    def test_what_a_line_item_may_have_can_be_estimated(self, box: Sandbox) -> None:
        """Criteria that were read from a line item are accepted, of whatever type they are."""
        criteria = [{"targeting_type": kind, "targeting_value": "x"} for kind in TYPES]

        assert size(box, *criteria)

    @pytest.mark.spec("B, Accounts", "POST /12/accounts/:account_id/audience_estimate")
    @pytest.mark.parametrize("kind", RESTRICTING)
    def test_not_primary(self, box: Sandbox, kind: str) -> None:
        """The other types are accepted with a primary criterion, and not without one."""
        criterion = {"targeting_type": kind, "targeting_value": "x"}
        response = post(box, {CRITERIA: [criterion, criterion]})

        assert (400, [(INVALID, CRITERIA)]) == refusal(response)
        assert "BROAD_KEYWORD" in response.get_json()["errors"][0]["message"]
        assert size(box, criterion, COFFEE)

    @pytest.mark.spec("B, Accounts", "POST /12/accounts/:account_id/audience_estimate")
    @pytest.mark.parametrize(("body", "expected"), [
        ({}, [(MISSING, CRITERIA)]),
        ({CRITERIA: None}, [(INVALID, CRITERIA)]),
        ({CRITERIA: []}, [(INVALID, CRITERIA)]),
        ({CRITERIA: COFFEE}, [(INVALID, CRITERIA)]),
        ({CRITERIA: "coffee"}, [(INVALID, CRITERIA)]),
        ([AMERICA], [(INVALID, CRITERIA)]),
        ({CRITERIA: [COFFEE, "x"]}, [(INVALID, f"{CRITERIA}[1]")]),
        ({CRITERIA: [{}, COFFEE]}, [(MISSING, TYPE), (MISSING, VALUE)]),
        ({CRITERIA: [COFFEE | {"targeting_value": ""}]}, [(INVALID, VALUE)]),
        ({CRITERIA: [COFFEE | {"targeting_value": 7}]}, [(INVALID, VALUE)]),
        ({CRITERIA: [COFFEE | {"operator_type": "GT"}], "operator_type": "eq"},
         [(INVALID, "operator_type"), (INVALID, f"{CRITERIA}[0].operator_type")]),
    ])  # fmt: skip
    def test_refused(self, box: Sandbox, body: Any, expected: list[tuple[str, str]]) -> None:
        """Everything that is wrong is named, with its place."""
        response = post(box, body)

        assert response.status_code == 400
        assert sorted(expected) == sorted(faults(response))

    def test_unknown_type(self, box: Sandbox) -> None:
        """A type that does not exist is refused; the journal has the nearest one."""
        response = post(box, {CRITERIA: [COFFEE | {"targeting_type": "BROAD_KEYWORDS"}]})
        hint = f"{TYPE}: Did you mean BROAD_KEYWORD?"

        assert faults(response) == [("INVALID_TARGETING_TYPE", TYPE)]
        assert {"mistake": "parameters", "explanation": hint} == last(box).diagnosis

    def test_bare_array(self, box: Sandbox) -> None:
        """The criteria may be the whole body, with the same answer, which says so."""
        whole, bare = post(box, {CRITERIA: [COFFEE]}), post(box, [COFFEE])

        assert bare.get_json() == whole.get_json()
        assert "audience-estimate.bare-array" in bare.headers["X-Mock-Assumptions"]
        assert "audience-estimate.bare-array" not in whole.headers["X-Mock-Assumptions"]

    def test_no_json(self, box: Sandbox) -> None:
        """A body that is no JSON, or no object, is refused."""
        for body in (b"{", b"7"):
            response = box.call("POST", PATH, data=body, content_type="application/json")
            assert response.status_code == 400

    def test_further_fields(self, box: Sandbox) -> None:
        """Criteria may be sent as they were read, with their other fields."""
        stored = COFFEE | {"id": "8ptm9", "name": "coffee", "deleted": "false"}

        assert size(box, stored) == size(box, COFFEE)


class TestSize:
    """How the size behaves."""

    def test_repeats(self, box: Sandbox) -> None:
        """The same criteria have the same size, in any order and with repetitions."""
        first = size(box, COFFEE, AMERICA)

        assert size(box, AMERICA, COFFEE, AMERICA) == first
        assert size(box, COFFEE | {"targeting_value": "COFFEE"}, AMERICA) == first

    def test_by_seed(self) -> None:
        """Another seed leads to another size, the same seed to the same one."""
        sizes = [size(sandbox(seed=seed), COFFEE) for seed in (1, 1, 2)]

        assert sizes[0] == sizes[1] != sizes[2]

    def test_narrower_and_wider(self, box: Sandbox) -> None:
        """Another keyword widens the audience, a location narrows it, exclusion narrows it too."""
        tea = COFFEE | {"targeting_value": "tea"}
        one = size(box, COFFEE)

        assert size(box, COFFEE, tea) > one
        assert size(box, COFFEE, AMERICA) < one
        assert size(box, COFFEE, tea | {"operator_type": "NE"}) < one

    @pytest.mark.spec("B, Accounts", "POST /12/accounts/:account_id/audience_estimate")
    def test_operator_for_all(self, box: Sandbox) -> None:
        """operator_type next to the criteria is that of those without one."""
        excluded = AMERICA | {"operator_type": "NE"}
        included = COFFEE | {"operator_type": "EQ"}

        assert size(box, included, AMERICA, operator_type="NE") == size(box, COFFEE, excluded)
        assert size(box, COFFEE, operator_type="EQ") == size(box, COFFEE)


CRITERION = st.tuples(
    st.sampled_from([*PRIMARY, *RESTRICTING]),
    st.text(min_size=1, max_size=3),
    st.sampled_from(["EQ", "NE"]),
)


@given(st.sets(CRITERION, max_size=6), st.text(min_size=1), st.sampled_from(PRIMARY))
def test_a_primary_criterion_never_narrows(
    criteria: set[tuple[str, str, str]], value: str, kind: str
) -> None:
    """Whoever was in the audience of some primary criteria stays when one more is added."""
    ids = Ids(7, "default")
    some = {*criteria, ("INTEREST", "x", "EQ")}

    assert estimate(ids, some) <= estimate(ids, {*some, (kind, value, "EQ")}) * (1 + 1e-9)


@given(st.sets(CRITERION, max_size=6), CRITERION)
def test_a_further_type_never_widens(
    criteria: set[tuple[str, str, str]], added: tuple[str, str, str]
) -> None:
    """A restriction of a type that is new, and every exclusion, leaves at most what was there."""
    ids = Ids(7, "default")
    kind, value, _ = added
    known = {type_ for type_, _, _ in criteria}
    before = estimate(ids, criteria)

    assert 0 <= estimate(ids, {*criteria, (kind, value, "NE")}) <= before * (1 + 1e-9)
    if kind in RESTRICTING and kind not in known:
        assert 0 <= estimate(ids, {*criteria, (kind, value, "EQ")}) <= before * (1 + 1e-9)
