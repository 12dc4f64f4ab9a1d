"""Apps add and delete rules of the filtered stream; each rule is judged by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from werkzeug.test import TestResponse

from tests.api.oauth.app_client import AppClient, messages
from tests.support_replay import Desk

PATH = "/2/posts/search/stream/rules"
APP = "11827"
OTHER_APP = "20993"
EMPTY = ("stream_rules",)
PROBLEMS = "http://localhost/2/problems"


class Client(AppClient):
    """Changes the rules of one app."""

    path = PATH

    def change(self, query: str = "", **body: Any) -> TestResponse:
        """Ask for a change of the rules."""
        return self.call("POST", f"{PATH}{query}", json=body)

    def add(self, *values: str, query: str = "", **more: Any) -> dict[str, Any]:
        """Add rules with these values; the body of the answer, which must be 200."""
        answer = self.change(query, add=[{"value": value} | more for value in values])
        assert answer.status_code == 200, answer.get_data(as_text=True)
        body: dict[str, Any] = answer.get_json()
        return body

    def ids(self, *values: str) -> list[str]:
        """Add rules, which must be good; their ids."""
        return [rule["id"] for rule in self.add(*values)["data"]]

    def delete(self, *, query: str = "", **delete: Any) -> dict[str, Any]:
        """Delete rules; the body of the answer, which must be 200."""
        answer = self.change(query, delete=delete)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        body: dict[str, Any] = answer.get_json()
        return body

    def values(self, query: str = "") -> list[str]:
        """The values of all rules."""
        listed = self.call("GET", f"{PATH}{query}").get_json()
        return [rule["value"] for rule in listed.get("data", [])]

    def fill(self, count: int, app: str = APP) -> None:
        """Store rules behind the interface, as many as a test needs."""
        with self.desk.world.work():
            for number in range(count):
                record = {"id": f"7{number:06}", "value": f"w{number}", "_app_id": app}
                self.desk.world.store.put("stream_rules", record["id"], record)

    def set_tier(self, tier: str) -> None:
        """Move the app to another tier."""
        self.desk.change("apps", APP, _tier=tier)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.set_tier("self_serve")


class TestAdd:
    """Rules are added."""

    def test_answer(self, client: Client) -> None:
        """The answer has the rules with their ids, and how many there are."""
        body = client.add("cat has:images", tag="cats")

        assert {
            "data": [{"value": "cat has:images", "tag": "cats", "id": body["data"][0]["id"]}],
            "meta": {
                "sent": "2026-11-20T12:00:30.000Z",
                "summary": {"created": 1, "not_created": 0, "valid": 1, "invalid": 0},
            },
        } == body
        assert ["cat has:images"] == client.values()

    def test_a_tag_that_was_not_sent(self, client: Client) -> None:
        """A rule without a tag has no tag in answers."""
        assert ["value", "id"] == list(client.add("cat")["data"][0])

    def test_good_duplicate_and_bad(self, client: Client) -> None:
        """The good rule is created beside the errors of a duplicate and a bad one."""
        (first,) = client.ids("cat has:images")
        body = client.add("dog", "cat has:images", "--b")

        assert ["dog"] == [rule["value"] for rule in body["data"]]
        assert {"created": 1, "not_created": 2, "valid": 1, "invalid": 2} == body["meta"]["summary"]
        assert [
            {
                "value": "cat has:images",
                "id": first,
                "title": "DuplicateRule",
                "type": f"{PROBLEMS}/duplicate-rules",
            },
            {
                "value": "--b",
                "details": [
                    "Rules must contain a non-negation term (at position 1)",
                    "Rules must contain at least one positive, non-stopword clause (at position 1)",
                ],
                "title": "UnprocessableEntity",
                "type": f"{PROBLEMS}/invalid-rules",
            },
        ] == body["errors"]
        assert ["cat has:images", "dog"] == client.values()

    def test_none_is_good(self, client: Client) -> None:
        """If no rule is good, the status is still 200 and there is no data."""
        body = client.add("--b")

        assert "data" not in body
        assert {"created": 0, "not_created": 1, "valid": 0, "invalid": 1} == body["meta"]["summary"]

    def test_duplicates_have_equal_values(self, client: Client) -> None:
        """The tag makes no difference, and two of one request are duplicates as well."""
        body = client.change(
            add=[{"value": "cat", "tag": "a"}, {"value": "cat", "tag": "b"}, {"value": "CAT"}]
        ).get_json()

        assert ["cat", "CAT"] == [rule["value"] for rule in body["data"]]
        assert [body["data"][0]["id"]] == [error["id"] for error in body["errors"]]

    def test_rules_belong_to_their_app(self, client: Client, desk: Desk) -> None:
        """The rule of another app is no duplicate, and not listed."""
        record = {"id": "5", "value": "cat", "_app_id": OTHER_APP}
        desk.put("stream_rules", "5", record)

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
        assert [
            "rule 'bio:coffee': bio: is accepted here but never matches (at position 1)"
        ] == list(entry.warnings)

    @pytest.mark.parametrize("path", [PATH, "/2/tweets/search/stream/rules"])
    def test_older_path(self, client: Client, path: str) -> None:
        """The older path leads to the same rules."""
        answer = client.call("POST", path, json={"add": [{"value": "cat"}]})

        assert 200 == answer.status_code
        assert ["cat"] == client.values()


class TestCaps:
    """A project has a number of rules, each of a length, by the tier of the app."""

    @pytest.mark.parametrize(
        ("tier", "length", "good"),
        [
            ("self_serve", 1_024, True),
            ("self_serve", 1_025, False),
            ("enterprise", 2_048, True),
            ("enterprise", 2_049, False),
            ("partner", 2_048, True),
            ("partner", 2_049, False),
        ],
    )
    def test_length(self, client: Client, tier: str, length: int, good: bool) -> None:
        """A rule that is too long is a bad rule."""
        client.set_tier(tier)

        assert good == ("data" in client.add("x" * length))

    @pytest.mark.parametrize(
        ("tier", "held", "status"),
        [
            ("self_serve", 998, 200),
            ("self_serve", 999, 403),
            ("enterprise", 24_998, 200),
            ("enterprise", 24_999, 403),
        ],
    )
    def test_number(self, client: Client, tier: str, held: int, status: int) -> None:
        """Beyond the cap the whole request fails, and nothing is created."""
        client.set_tier(tier)
        client.fill(held)

        answer = client.change(add=[{"value": "cat"}, {"value": "dog"}])

        assert status == answer.status_code
        found = client.desk.world.store.count("stream_rules", {"_app_id": APP})
        assert held + (2 if status == 200 else 0) == found

    def test_refusal(self, client: Client) -> None:
        """The problem says how many rules there are, and how many may be."""
        client.fill(1_000)

        assert {
            "type": f"{PROBLEMS}/rule-cap",
            "title": "RulesCapExceeded",
            "status": 403,
            "detail": "You have exceeded the maximum number of rules: 1000 exist, 1 are new, and "
            "1000 are allowed.",
        } == client.change(add=[{"value": "cat"}]).get_json()

    def test_bad_rules_count_for_nothing(self, client: Client) -> None:
        """A request whose rules are all bad is no request for more rules."""
        client.fill(1_000)

        assert "errors" in client.add("--b", "w1")

    def test_apps_of_one_owner_share_the_cap(self, client: Client, desk: Desk) -> None:
        """The rules of another app of the same owner count as well."""
        desk.change("apps", OTHER_APP, _owner_user_id="2244994945")
        client.fill(1_000, OTHER_APP)

        assert 403 == client.change(add=[{"value": "cat"}]).status_code


class TestDelete:
    """Rules are deleted."""

    def test_by_id(self, client: Client) -> None:
        """Rules are deleted by their ids."""
        first, _ = client.ids("cat", "dog")

        assert {
            "meta": {
                "sent": "2026-11-20T12:00:30.000Z",
                "summary": {"deleted": 1, "not_deleted": 0},
            }
        } == client.delete(ids=[first])
        assert ["dog"] == client.values()

    def test_by_value(self, client: Client) -> None:
        """Rules are deleted by their values."""
        client.ids("cat", "dog")
        client.delete(values=["dog"])

        assert ["cat"] == client.values()

    @pytest.mark.parametrize("parameter", ["ids", "values"])
    def test_unknown(self, client: Client, parameter: str) -> None:
        """A rule that the app does not have is named in errors; the others are deleted."""
        (known,) = client.ids("cat")
        known = "cat" if parameter == "values" else known
        wanted: dict[str, Any] = {parameter: [known, "999"]}
        body = client.delete(**wanted)

        assert {"deleted": 1, "not_deleted": 1} == body["meta"]["summary"]
        assert [
            {
                "errors": [{"parameters": {parameter: ["999"]}, "message": "Rule does not exist"}],
                "title": "Invalid Request",
                "detail": "One or more parameters to your request was invalid.",
                "type": f"{PROBLEMS}/invalid-request",
            }
        ] == body["errors"]

    def test_the_rule_of_another_app(self, client: Client) -> None:
        """An app cannot delete the rule of another one."""
        client.fill(1, OTHER_APP)

        assert 1 == client.delete(ids=["7000000"])["meta"]["summary"]["not_deleted"]
        assert 1 == client.desk.world.store.count("stream_rules")

    def test_dry_run(self, client: Client) -> None:
        """A dry run deletes nothing."""
        body = client.delete(query="?dry_run=true", ids=client.ids("cat"))

        assert {"deleted": 1, "not_deleted": 0} == body["meta"]["summary"]
        assert ["cat"] == client.values()

    @pytest.mark.parametrize("value", ["true", "True"])
    def test_all(self, client: Client, value: str) -> None:
        """All rules of the app are deleted without a body, and no rules of others."""
        client.ids("cat", "dog")
        client.fill(1, OTHER_APP)
        answer = client.call("POST", f"{PATH}?delete_all={value}")

        assert {"deleted": 2, "not_deleted": 0} == answer.get_json()["meta"]["summary"]
        assert 1 == client.desk.world.store.count("stream_rules")


class TestFaults:
    """Requests that cannot be understood change nothing."""

    @pytest.mark.parametrize(
        ("query", "body", "message"),
        [
            (
                "",
                {},
                "exactly one of add and delete is required, or delete_all=true in the query",
            ),
            (
                "?delete_all=false",
                {"add": [{"value": "cat"}], "delete": {"ids": ["1"]}},
                "exactly one of add and delete is required, or delete_all=true in the query",
            ),
            ("", {"delete": {}}, "delete needs exactly one of ids and values"),
            (
                "",
                {"delete": {"ids": ["1"], "values": ["cat"]}},
                "delete needs exactly one of ids and values",
            ),
            (
                "?delete_all=true",
                {"add": [{"value": "cat"}]},
                "delete_all cannot be used with add",
            ),
            ("?delete_all=true&dry_run=true", {}, "delete_all cannot be used with dry_run"),
            ("", {"add": []}, "JSON doesn't match expected schema"),
            ("", {"add": [{"tag": "x"}]}, "JSON doesn't match expected schema"),
        ],
    )
    def test_body(self, client: Client, query: str, body: dict[str, Any], message: str) -> None:
        """What does not go together is refused."""
        assert [message] == messages(client.change(query, **body))
        assert [] == client.values()

    @pytest.mark.parametrize(
        "body",
        [{"delete": {"ids": [1]}}, {"delete": {"values": [1]}}, {"add": [{"value": 1}]}],
    )
    def test_too_many(self, client: Client, body: dict[str, Any]) -> None:
        """Of more than 1,000 rules in a request none is looked at: only their number is wrong."""
        if "add" in body:
            answer = client.change(add=body["add"] * 1001)
        else:
            answer = client.change(delete={each: [1] * 1001 for each in body["delete"]})

        text = "JSON doesn't match expected schema"
        assert [{"message": text, "parameters": {next(iter(body)): []}}] == (
            answer.get_json()["errors"]
        )

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

    def test_no_body(self, client: Client) -> None:
        """A request without a body must delete all."""
        assert 400 == client.call("POST", PATH).status_code

    def test_a_list(self, client: Client) -> None:
        """The body is an object."""
        assert 400 == client.call("POST", PATH, json=[{"value": "cat"}]).status_code

    def test_parameters_in_the_wrong_place(self, client: Client) -> None:
        """A dry run in the body has no effect, and the header of warnings reports it."""
        answer = client.change(add=[{"value": "cat"}], dry_run=True)

        assert "unknown-key" == answer.headers["X-Mock-Warnings"]
        assert ["cat"] == client.values()


class TestList:
    """Rules are listed in the order in which they were added."""

    def test_none(self, client: Client) -> None:
        """Without rules there is no data."""
        assert {"meta": {"sent": "2026-11-20T12:00:30.000Z", "result_count": 0}} == client.call(
            "GET"
        ).get_json()

    @pytest.mark.parametrize("form", ["?ids={0},{2}", "?ids={0}&ids={2}"])
    def test_ids(self, client: Client, form: str) -> None:
        """Some rules are asked for in one parameter or in several."""
        ids = client.ids("cat", "dog", "fox")

        assert ["cat", "fox"] == client.values(form.format(*ids))

    def test_pages(self, client: Client) -> None:
        """The token of a page leads to the next one; the last page has none."""
        client.ids("cat", "dog", "fox")
        first = client.call("GET", f"{PATH}?max_results=2").get_json()
        token = first["meta"]["next_token"]
        last = client.call("GET", f"{PATH}?max_results=2&pagination_token={token}").get_json()

        assert [["cat", "dog"], ["fox"]] == [
            [rule["value"] for rule in page["data"]] for page in (first, last)
        ]
        assert "next_token" not in last["meta"]

    def test_tokens(self, client: Client) -> None:
        """Tokens have exactly 16 characters, and are equal for equal pages."""
        client.ids(*(f"word{number}" for number in range(30)))
        found, query = [], ""
        while True:
            page = client.call("GET", f"{PATH}?max_results=1{query}").get_json()
            found += [rule["value"] for rule in page["data"]]
            token = page["meta"].get("next_token")
            if token is None:
                break
            again = client.call("GET", f"{PATH}?max_results=1{query}").get_json()
            assert (16, token) == (len(token), again["meta"]["next_token"])
            query = f"&pagination_token={token}"

        assert [f"word{number}" for number in range(30)] == found

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda token: token[:-1],
            lambda token: token + "A",
            lambda token: ("A" if token[0] != "A" else "B") + token[1:],
            lambda token: token[:-1] + ("A" if token[-1] != "A" else "B"),
            lambda token: token[:8] + "!" * 8,
            lambda _: "\u00e4" * 16,
            lambda _: "A" * 16,
        ],
    )
    def test_other_tokens(self, client: Client, spoil: Callable[[str], str]) -> None:
        """A token that this list did not give is refused."""
        client.ids("cat", "dog", "fox")
        first = client.call("GET", f"{PATH}?max_results=1").get_json()
        query = urlencode({"pagination_token": spoil(first["meta"]["next_token"])})

        assert 400 == client.call("GET", f"{PATH}?{query}").status_code

    def test_too_many_ids(self, client: Client) -> None:
        """Up to 1,000 rules are asked for by their ids; of more, none is looked at."""
        ids = [str(number) for number in range(1, 1001)]

        assert 200 == client.call("GET", f"{PATH}?ids={','.join(ids)}").status_code
        answer = client.call("GET", f"{PATH}?ids={','.join([*ids, ''])}")
        assert ["size [1001] is not between 1 and 1000"] == messages(answer)


class TestCounts:
    """The rules of an app and its project are counted."""

    def test_answer(self, client: Client) -> None:
        """All counts are returned."""
        client.ids("cat", "dog")

        own = {"client_app_id": APP, "rule_count": 2}
        assert {
            "data": {
                "cap_per_client_app": 1000,
                "cap_per_project": 1000,
                "client_app_rules_count": own,
                "project_rules_count": 2,
                "all_project_client_apps": [own],
            }
        } == client.call("GET", f"{PATH}/counts").get_json()

    def test_fields(self, client: Client) -> None:
        """Some counts can be asked for."""
        path = f"{PATH}/counts?rules_count.fields=project_rules_count"

        assert {"data": {"project_rules_count": 0}} == client.call("GET", path).get_json()

    def test_tier(self, client: Client) -> None:
        """The caps are those of the app's tier."""
        client.set_tier("enterprise")

        assert 25_000 == client.call("GET", f"{PATH}/counts").get_json()["data"]["cap_per_project"]
