"""Apps add and delete rules of the filtered stream; each rule is judged by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from werkzeug.test import TestResponse

from tests.api.oauth.app_client import AppClient, messages
from tests.support import body_of
from tests.support_replay import Desk

PATH = "/2/posts/search/stream/rules"
APP = "11827"
OTHER_APP = "20993"
EMPTY = ("stream_rules",)
PROBLEMS = "http://localhost/2/problems"
SENT = "2026-11-20T12:00:30.000Z"


class Client(AppClient):
    """Changes the rules of one app."""

    path = PATH

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.set_tier("self_serve")

    def change(self, query: str = "", **body: Any) -> TestResponse:
        """Ask for a change of the rules."""
        return self.call("POST", f"{PATH}{query}", json=body)

    def add(self, *values: str, query: str = "", **more: Any) -> Any:
        """Add rules with these values; the body of the answer, which must be 200."""
        return body_of(self.change(query, add=[{"value": value} | more for value in values]))

    def ids(self, *values: str) -> list[str]:
        """Add rules, which must be good; their ids."""
        return [rule["id"] for rule in self.add(*values)["data"]]

    def delete(self, *, query: str = "", **delete: Any) -> Any:
        """Delete rules; the body of the answer, which must be 200."""
        return body_of(self.change(query, delete=delete))

    def values(self, query: str = "") -> list[str]:
        """The values of all rules."""
        return [rule["value"] for rule in self.read(f"{PATH}{query}").get("data", [])]

    def fill(self, count: int, app: str = APP) -> None:
        """Store rules behind the interface, as many as a test needs."""
        with self.desk.world.work():
            for number in range(count):
                record = {"id": f"7{number:06}", "value": f"w{number}", "_app_id": app}
                self.desk.world.store.put("stream_rules", record["id"], record)

    def set_tier(self, tier: str) -> None:
        """Move the app to another tier."""
        self.desk.change("apps", APP, _tier=tier)


def summary(body: Any) -> tuple[int, ...]:
    """How many rules were made and not, or deleted and not."""
    return tuple(body["meta"]["summary"].values())[:2]


class TestAdd:
    """Rules are added."""

    def test_answer(self, client: Client) -> None:
        """The answer has the rules with their ids, and how many there are; a tag if it was sent."""
        body = client.add("cat has:images", tag="cats")

        counts = {"created": 1, "not_created": 0, "valid": 1, "invalid": 0}
        assert {
            "data": [{"value": "cat has:images", "tag": "cats", "id": body["data"][0]["id"]}],
            "meta": {"sent": SENT, "summary": counts},
        } == body
        assert ["cat has:images"] == client.values()
        assert ["value", "id"] == list(client.add("cat")["data"][0])

    def test_good_duplicate_and_bad(self, client: Client) -> None:
        """The good rule is created beside the errors of a duplicate and a bad one."""
        (first,) = client.ids("cat has:images")
        body = client.add("dog", "cat has:images", "--b")

        assert ["dog"] == [rule["value"] for rule in body["data"]]
        assert {"created": 1, "not_created": 2, "valid": 1, "invalid": 2} == body["meta"]["summary"]
        duplicate, bad = body["errors"]
        assert duplicate == {
            "value": "cat has:images", "id": first, "title": "DuplicateRule",
            "type": f"{PROBLEMS}/duplicate-rules",
        }  # fmt: skip
        assert bad == {
            "value": "--b",
            "details": [
                "Rules must contain a non-negation term (at position 1)",
                "Rules must contain at least one positive, non-stopword clause (at position 1)",
            ],
            "title": "UnprocessableEntity",
            "type": f"{PROBLEMS}/invalid-rules",
        }
        assert ["cat has:images", "dog"] == client.values()

    def test_none_is_good(self, client: Client) -> None:
        """If no rule is good, the status is still 200 and there is no data."""
        body = client.add("--b")
        assert "data" not in body
        assert {"created": 0, "not_created": 1, "valid": 0, "invalid": 1} == body["meta"]["summary"]

    def test_duplicates_have_equal_values(self, client: Client) -> None:
        """The tag makes no difference, and two of one request are duplicates as well."""
        rules = [{"value": "cat", "tag": "a"}, {"value": "cat", "tag": "b"}, {"value": "CAT"}]
        body = client.change(add=rules).get_json()
        assert ["cat", "CAT"] == [rule["value"] for rule in body["data"]]
        assert [body["data"][0]["id"]] == [error["id"] for error in body["errors"]]

    def test_rules_belong_to_their_app(self, client: Client, desk: Desk) -> None:
        """The rule of another app is no duplicate, and not listed."""
        desk.put("stream_rules", "5", {"id": "5", "value": "cat", "_app_id": OTHER_APP})
        assert 1 == len(client.ids("cat"))
        assert ["cat"] == client.values()

    @pytest.mark.parametrize("value", ["true", "True"])
    def test_dry_run(self, client: Client, value: str) -> None:
        """A dry run answers alike and keeps nothing, whatever the case of its value."""
        body = client.add("cat", "--b", query=f"?dry_run={value}")
        assert {"created": 1, "not_created": 1, "valid": 1, "invalid": 1} == body["meta"]["summary"]
        assert [] == client.values()

    def test_warnings(self, client: Client, desk: Desk) -> None:
        """The journal warns of an operator that never matches."""
        client.add("bio:coffee")
        (entry,) = desk.world.journal.find()
        text = "rule 'bio:coffee': bio: is accepted here but never matches (at position 1)"
        assert [text] == list(entry.warnings)


class TestCaps:
    """A project has a number of rules, each of a length, by the tier of the app."""

    @pytest.mark.parametrize(
        ("tier", "most"), [("self_serve", 1_024), ("enterprise", 2_048), ("partner", 2_048)]
    )
    def test_length(self, client: Client, tier: str, most: int) -> None:
        """A rule that is too long is a bad rule."""
        client.set_tier(tier)
        assert "data" in client.add("x" * most)
        assert "data" not in client.add("x" * (most + 1))

    @pytest.mark.parametrize(("tier", "most"), [("self_serve", 1_000), ("enterprise", 25_000)])
    @pytest.mark.parametrize(("free", "status"), [(2, 200), (1, 403)])
    def test_number(self, client: Client, tier: str, most: int, free: int, status: int) -> None:
        """Beyond the cap the whole request fails, and nothing is created."""
        client.set_tier(tier)
        client.fill(most - free)
        answer = client.change(add=[{"value": "cat"}, {"value": "dog"}])

        assert status == answer.status_code
        found = client.desk.world.store.count("stream_rules", {"_app_id": APP})
        assert (most if status == 200 else most - free) == found

    def test_refusal(self, client: Client) -> None:
        """The problem says how many rules there are, and may be; bad rules count for nothing."""
        client.fill(1_000)

        assert {
            "type": f"{PROBLEMS}/rule-cap",
            "title": "RulesCapExceeded",
            "status": 403,
            "detail": "You have exceeded the maximum number of rules: 1000 exist, 1 are new, and "
            "1000 are allowed.",
        } == client.change(add=[{"value": "cat"}]).get_json()
        assert "errors" in client.add("--b", "w1")

    def test_apps_of_one_owner_share_the_cap(self, client: Client, desk: Desk) -> None:
        """The rules of another app of the same owner count as well."""
        desk.change("apps", OTHER_APP, _owner_user_id="2244994945")
        client.fill(1_000, OTHER_APP)
        assert 403 == client.change(add=[{"value": "cat"}]).status_code


class TestDelete:
    """Rules are deleted."""

    def test_by_id_and_by_value(self, client: Client) -> None:
        """Rules are deleted by their ids or their values."""
        first, *_ = client.ids("cat", "dog", "fox")

        counts = {"deleted": 1, "not_deleted": 0}
        assert {"meta": {"sent": SENT, "summary": counts}} == client.delete(ids=[first])
        assert ["dog", "fox"] == client.values()
        client.delete(values=["dog"])
        assert ["fox"] == client.values()

    @pytest.mark.parametrize("parameter", ["ids", "values"])
    def test_unknown(self, client: Client, parameter: str) -> None:
        """A rule that the app does not have is named in errors; the others are deleted."""
        (id_,) = client.ids("cat")
        wanted: dict[str, Any] = {parameter: [id_ if parameter == "ids" else "cat", "999"]}
        body = client.delete(**wanted)

        assert (1, 1) == summary(body)
        error = {"parameters": {parameter: ["999"]}, "message": "Rule does not exist"}
        assert [
            {
                "errors": [error],
                "title": "Invalid Request",
                "detail": "One or more parameters to your request was invalid.",
                "type": f"{PROBLEMS}/invalid-request",
            }
        ] == body["errors"]

    def test_the_rule_of_another_app(self, client: Client) -> None:
        """An app cannot delete the rule of another one."""
        client.fill(1, OTHER_APP)
        assert (0, 1) == summary(client.delete(ids=["7000000"]))
        assert 1 == client.desk.world.store.count("stream_rules")

    def test_dry_run(self, client: Client) -> None:
        """A dry run deletes nothing."""
        assert (1, 0) == summary(client.delete(query="?dry_run=true", ids=client.ids("cat")))
        assert ["cat"] == client.values()

    @pytest.mark.parametrize("value", ["true", "True"])
    def test_all(self, client: Client, value: str) -> None:
        """All rules of the app are deleted without a body, and no rules of others."""
        client.ids("cat", "dog")
        client.fill(1, OTHER_APP)
        assert (2, 0) == summary(body_of(client.call("POST", f"{PATH}?delete_all={value}")))
        assert 1 == client.desk.world.store.count("stream_rules")


ONE_OF = "exactly one of add and delete is required, or delete_all=true in the query"
SCHEMA = "JSON doesn't match expected schema"
CAT = {"value": "cat"}


class TestFaults:
    """Requests that cannot be understood change nothing."""

    @pytest.mark.parametrize(
        ("query", "body", "message"),
        [
            ("", {}, ONE_OF),
            ("?delete_all=false", {"add": [CAT], "delete": {"ids": ["1"]}}, ONE_OF),
            ("", {"delete": {}}, "delete needs exactly one of ids and values"),
            ("", {"delete": {"ids": ["1"], "values": ["cat"]}},
             "delete needs exactly one of ids and values"),
            ("?delete_all=true", {"add": [CAT]}, "delete_all cannot be used with add"),
            ("?delete_all=true&dry_run=true", {}, "delete_all cannot be used with dry_run"),
            ("", {"add": []}, SCHEMA),
            ("", {"add": [{"tag": "x"}]}, SCHEMA),
            ("", {"delete": {"ids": ["1", "cat"]}}, SCHEMA),
            ("", {"delete": {"ids": ["1" * 20]}}, SCHEMA),
        ],
    )  # fmt: skip
    def test_body(self, client: Client, query: str, body: dict[str, Any], message: str) -> None:
        """What does not go together is refused."""
        assert [message] == messages(client.change(query, **body))
        assert [] == client.values()

    @pytest.mark.parametrize(
        "body", [{"delete": {"ids": [1]}}, {"delete": {"values": [1]}}, {"add": [{"value": 1}]}]
    )
    def test_too_many(self, client: Client, body: dict[str, Any]) -> None:
        """Of more than 1,000 rules in a request none is looked at: only their number is wrong."""
        if "add" in body:
            answer = client.change(add=body["add"] * 1001)
        else:
            answer = client.change(delete={each: [1] * 1001 for each in body["delete"]})

        error = {"message": SCHEMA, "parameters": {next(iter(body)): []}}
        assert [error] == answer.get_json()["errors"]

    def test_long_rules(self, client: Client) -> None:
        """The rules of one request have 131,072 characters together, and no more are read."""
        values = [f"{number:04}" + "a" * 1020 for number in range(128)]
        assert 128 == client.add(*values)["meta"]["summary"]["created"]
        (message,) = messages(client.change(add=[{"value": each} for each in [*values, "b"]]))
        assert "131,072 characters together" in message

    @pytest.mark.parametrize("value", ["(" * 200 + "cat" + ")" * 200, "cat AND dog"])
    def test_rules_that_cannot_be_read(self, client: Client, value: str) -> None:
        """Such a rule is an entry of the errors, beside the others."""
        body = client.add("fox", value)
        assert (1, 1) == (body["meta"]["summary"]["created"], len(body["errors"]))
        assert f"{PROBLEMS}/invalid-rules" == body["errors"][0]["type"]

    @pytest.mark.parametrize("more", [{}, {"json": [CAT]}])
    def test_no_object(self, client: Client, more: dict[str, Any]) -> None:
        """The body is an object, and a request without one must delete all."""
        assert 400 == client.call("POST", **more).status_code

    def test_parameters_in_the_wrong_place(self, client: Client) -> None:
        """A dry run in the body has no effect, and the header of warnings reports it."""
        answer = client.change(add=[CAT], dry_run=True)
        assert "unknown-key" == answer.headers["X-Mock-Warnings"]
        assert ["cat"] == client.values()


class TestList:
    """Rules are listed in the order in which they were added."""

    def test_none(self, client: Client) -> None:
        """Without rules there is no data."""
        assert {"meta": {"sent": SENT, "result_count": 0}} == client.read()

    @pytest.mark.parametrize("form", ["?ids={0},{2}", "?ids={0}&ids={2}"])
    def test_ids(self, client: Client, form: str) -> None:
        """Some rules are asked for in one parameter or in several."""
        ids = client.ids("cat", "dog", "fox")
        assert ["cat", "fox"] == client.values(form.format(*ids))

    def test_pages(self, client: Client) -> None:
        """Tokens of 16 characters lead to the next page, equal ones for equal pages."""
        client.ids(*(f"word{number}" for number in range(31)))
        found, query = [], ""
        while True:
            page = client.read(f"{PATH}?max_results=2{query}")
            found += [[rule["value"] for rule in page["data"]]]
            token = page["meta"].get("next_token")
            if token is None:
                break
            again = client.read(f"{PATH}?max_results=2{query}")
            assert (16, token) == (len(token), again["meta"]["next_token"])
            query = f"&pagination_token={token}"

        assert [[f"word{n}", f"word{n + 1}"] for n in range(0, 30, 2)] + [["word30"]] == found

    @pytest.mark.parametrize(
        "spoil",
        [lambda token: token[:-1], lambda token: token + "A",
         lambda token: ("A" if token[0] != "A" else "B") + token[1:],
         lambda token: token[:-1] + ("A" if token[-1] != "A" else "B"),
         lambda token: token[:8] + "!" * 8, lambda _: "\u00e4" * 16, lambda _: "A" * 16],
    )  # fmt: skip
    def test_other_tokens(self, client: Client, spoil: Callable[[str], str]) -> None:
        """A token that this list did not give is refused."""
        client.ids("cat", "dog", "fox")
        first = client.read(f"{PATH}?max_results=1")
        query = urlencode({"pagination_token": spoil(first["meta"]["next_token"])})
        client.read(f"{PATH}?{query}", 400)

    def test_too_many_ids(self, client: Client) -> None:
        """Up to 1,000 rules are asked for by their ids; of more, none is looked at."""
        ids = ",".join(str(number) for number in range(1, 1001))
        client.read(f"{PATH}?ids={ids}")
        answer = client.call("GET", f"{PATH}?ids={ids},")
        assert ["size [1001] is not between 1 and 1000"] == messages(answer)


class TestCounts:
    """The rules of an app and its project are counted."""

    def test_answer(self, client: Client) -> None:
        """All counts are returned."""
        client.ids("cat", "dog")

        own = {"client_app_id": APP, "rule_count": 2}
        assert client.read(f"{PATH}/counts")["data"] == {
            "cap_per_client_app": 1000, "cap_per_project": 1000, "client_app_rules_count": own,
            "project_rules_count": 2, "all_project_client_apps": [own],
        }  # fmt: skip

    def test_fields(self, client: Client) -> None:
        """Some counts can be asked for; the caps are those of the app's tier."""
        client.set_tier("enterprise")
        body = client.read(f"{PATH}/counts?rules_count.fields=project_rules_count,cap_per_project")
        assert {"project_rules_count": 0, "cap_per_project": 25_000} == body["data"]
