"""`request.params`: what is echoed of a request, in answers and in refusals (public facts)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.core.operation import Echo
from tests.api.ads.cards.creatives import VIDEO
from tests.api.ads.support import delete, echo, get, post, put, send, without
from tests.support import ACCOUNT, Sandbox

CATALOG = "1547080787865939968"
CATALOGS = "/12/product_catalogs"
SET = "1547081000000000001"
PRODUCT = "1547080787865940007"
CATEGORY = "8tujl1p3yn0g"
POLL = "1712870000002000001"
CONVERSATION = "1712880000003000009"
POST = "1712850617439551489"
LIST = "4y1bc"
HASH = "a" * 64
HERE = {"account_id": ACCOUNT}
HISTORY = {
    "entity_type": "CAMPAIGN", "entity_id": "8wku2", "start_time": "2026-08-25T00:00:00Z",
    "end_time": "2026-08-26T00:00:00Z",
}  # fmt: skip


def on_catalogs(box: Sandbox, method: str, path: str = "", **more: Any) -> TestResponse:
    """A call below the product catalogs."""
    return box.call(method, f"{CATALOGS}{path}", **more)


class TestNames:
    """Under which name a parameter is echoed."""

    @pytest.mark.spec("B, What public facts and settled questions add", "entity_type of")
    def test_a_history_echoes_entity(self, box: Sandbox) -> None:
        """entity_type is echoed as entity, in an answer and in a refusal."""
        answer = get(box, "account_history", **HISTORY)
        refusal = get(box, "account_history", **HISTORY | {"start_time": "x"})
        shown = {"entity": "CAMPAIGN", **HERE, **without(HISTORY, "entity_type")}
        assert (200, shown) == (answer.status_code, echo(answer))
        del shown["start_time"]
        assert (400, shown) == (refusal.status_code, echo(refusal))

    @pytest.mark.parametrize("changes", [{}, {"name": ""}])
    def test_a_catalog_echoes_its_id(self, box: Sandbox, changes: dict[str, str]) -> None:
        """The key of the catalog itself is `id`, whether the update succeeds or not."""
        query = {"name": "Renamed", **changes}
        response = on_catalogs(box, "PUT", f"/{CATALOG}", query_string=query)
        expected = {"id": CATALOG} | ({} if changes else {"name": "Renamed"})
        assert (400 if changes else 200, expected) == (response.status_code, echo(response))

    def test_records_of_a_catalog_echo_its_own_name(self, box: Sandbox) -> None:
        """Their own key is `id`, the parent's product_catalog_id; of a deleted one `id`."""
        parent = {"product_catalog_id": CATALOG}
        for key in (SET, "1"):
            for method in ("GET", "DELETE"):
                response = on_catalogs(box, method, f"/{CATALOG}/product_sets/{key}")
                assert parent | {"id": key} == echo(response)
        products = on_catalogs(box, "GET", f"/{CATALOG}/products", query_string={"count": "2"})
        assert parent | {"count": 2} == echo(products)
        for key in (CATALOG, "1"):
            assert {"id": key} == echo(on_catalogs(box, "DELETE", f"/{key}"))

    @pytest.mark.parametrize("key", [CATEGORY, "unknown"])
    def test_a_curated_category_echoes_its_id(self, box: Sandbox, key: str) -> None:
        """The read of one category echoes `id`, found or not."""
        assert {**HERE, "id": key} == echo(get(box, f"curated_categories/{key}"))

    def test_an_older_name_is_echoed_as_the_neutral_one(self, box: Sandbox) -> None:
        """tweet_mode is echoed as post_mode; of both, post_mode counts."""
        older = post(box, "post", as_user_id="2244994945", text="A", tweet_mode="extended")
        both = post(
            box, "post", as_user_id="2244994945", text="B", tweet_mode="extended",
            post_mode="compat",
        )  # fmt: skip
        shown = {**HERE, "as_user_id": 2244994945}

        assert {**shown, "text": "A", "post_mode": "extended"} == echo(older)
        assert {**shown, "text": "B", "post_mode": "compat"} == echo(both)


class TestCardType:
    """Poll and conversation cards echo a card_type that no request sends."""

    @pytest.mark.parametrize("path", [f"cards/poll/{POLL}", "cards/poll", "cards/poll/1"])
    def test_polls_in_small_letters(self, box: Sandbox, path: str) -> None:
        """Reads of polls echo `poll`."""
        assert "poll" == echo(get(box, path))["card_type"]

    @pytest.mark.parametrize(("kind", "key"), [
        ("poll", POLL), ("video_conversation", CONVERSATION),
    ])  # fmt: skip
    def test_deletes_and_refused_lists_in_small_letters(
        self, box: Sandbox, kind: str, key: str
    ) -> None:
        """The delete and the list, a refused one too, echo the type."""
        shown = {**HERE, "card_type": kind}

        assert shown | {"card_id": key} == echo(delete(box, f"cards/{kind}/{key}"))
        for query in ({}, {"count": "0"}):
            assert shown == echo(get(box, f"cards/{kind}", **query))

    def test_conversation_cards_written_in_capitals(self, box: Sandbox) -> None:
        """POST and PUT of conversation cards echo `VIDEO_CONVERSATION`."""
        path = f"cards/video_conversation/{CONVERSATION}"
        shown = {**HERE, "card_type": "VIDEO_CONVERSATION"}

        assert {**shown, "name": "A"} == echo(post(box, "cards/video_conversation", name="A"))
        assert {**shown, "card_id": CONVERSATION, "name": "A"} == echo(put(box, path, name="A"))


class TestTypes:
    """Numbers, booleans, lists, times and long ids."""

    def test_numbers_and_booleans(self, box: Sandbox) -> None:
        """Counts and amounts are numbers, flags are booleans."""
        read = get(box, "account_media", count="3", with_deleted="true", with_total_count="False")
        written = put(box, "line_items/itttx", bid_amount_local_micro="1600000")
        poll = post(box, "cards/poll", name="P", first_choice="a", second_choice="b",
                    duration_in_minutes="10080")  # fmt: skip

        assert {**HERE, "count": 3, "with_deleted": True, "with_total_count": False} == echo(read)
        assert 1600000 == echo(written)["bid_amount_local_micro"]
        assert 10080 == echo(poll)["duration_in_minutes"]

    @pytest.mark.parametrize(("path", "name", "value"), [
        ("account_media", "account_media_ids", "2pro,2prp"),
        ("account_media", "creative_types", "BANNER,PREROLL"),
        ("cards", "card_id", "1,2"), ("cards", "card_ids", "1,2"),
        ("cards", "card_uris", "card://1,card://2"),
        ("cards", "card_types", "IMAGE_APP,VIDEO_APP"), ("cards/poll", "card_ids", "1,2"),
        ("curated_categories", "country_codes", "US,GB"),
        ("features", "feature_keys", "REACH_FREQUENCY_CAP,REACH_AND_FREQUENCY_ANALYTICS"),
        ("account_media", "sort_by", "created_at-desc"),
    ])  # fmt: skip
    def test_lists(self, box: Sandbox, path: str, name: str, value: str) -> None:
        """Comma-separated values are arrays of strings, a single one too."""
        response = get(box, path, **{name: value})

        assert (200, value.split(",")) == (response.status_code, echo(response)[name])

    def test_media_keys_of_a_post(self, box: Sandbox) -> None:
        """media_keys are an array, as_user_id is a number."""
        query = {"as_user_id": "2244994945", "media_keys": VIDEO, "trim_user": "true"}
        response = post(box, "post", **query)
        shown = {"as_user_id": 2244994945, "media_keys": [VIDEO], "trim_user": True}
        assert {**HERE, **shown} == echo(response)

    @pytest.mark.parametrize(("key", "shown"), [(POST, int(POST)), ("12", 12), ("abc", "abc")])
    def test_the_id_of_a_named_post(self, box: Sandbox, key: str, shown: int | str) -> None:
        """post_id is a number in the echo of the name, of an unknown post as well."""
        response = put(box, f"posts/{key}/name", name="N")

        assert {**HERE, "post_id": shown, "name": "N"} == echo(response)

    @pytest.mark.parametrize("path", ["posts", "post_previews"])
    def test_the_ids_of_posts_that_are_read(self, box: Sandbox, path: str) -> None:
        """post_ids are texts where posts are read, and only numbers are taken."""
        read = get(box, path, post_type="PUBLISHED", post_ids=f"{POST},12")
        refused = get(box, path, post_type="PUBLISHED", post_ids="x")
        shown = {**HERE, "post_type": "PUBLISHED"}
        assert (200, {**shown, "post_ids": [POST, "12"]}) == (read.status_code, echo(read))
        assert (400, shown) == (refused.status_code, echo(refused))

    def test_the_ids_of_posts_that_are_promoted(self, box: Sandbox) -> None:
        """post_ids and scheduled_post_id are numbers where they are promoted."""
        box.world.clock.freeze(datetime(2026, 11, 20, tzinfo=UTC))
        now = {"line_item_id": "itttx", "post_ids": POST}
        later = {"line_item_id": "iumz0", "scheduled_post_id": "1991600000000000203"}
        promoted = post(box, "promoted_posts", **now)
        scheduled = post(box, "scheduled_promoted_posts", **later)
        unknown = post(box, "scheduled_promoted_posts", **later | {"scheduled_post_id": "12"})

        assert {**HERE, **now, "post_ids": [int(POST)]} == echo(promoted)
        shown = {**HERE, **later, "scheduled_post_id": 1991600000000000203}
        assert (200, shown) == (scheduled.status_code, echo(scheduled))
        assert (404, shown | {"scheduled_post_id": 12}) == (unknown.status_code, echo(unknown))

    @pytest.mark.parametrize("sent", ["2026-11-01", "2026-11-01T00:00Z", "2026-11-01T00:00:00.0Z"])
    def test_times_are_normalised(self, box: Sandbox, sent: str) -> None:
        """Whatever form a time was sent in, it is echoed with seconds and Z."""
        box.world.clock.freeze(datetime(2026, 11, 2, tzinfo=UTC))
        window = {"start_time": sent, "end_time": "2026-11-02"}
        search = {"granularity": "DAY", "keywords": "coffee, tea"}
        insights = box.ask("GET", "/12/insights/keywords/search", **search, **window)
        line_item = put(box, "line_items/itttx", start_time=sent)

        assert {
            "granularity": "DAY", "keywords": ["coffee", "tea"],
            "start_time": "2026-11-01T00:00:00Z", "end_time": "2026-11-02T00:00:00Z",
        } == echo(insights)  # fmt: skip
        assert "2026-11-01T00:00:00Z" == echo(line_item)["start_time"]

    @pytest.mark.parametrize("path", ["account_media", "cards", "media_library", "cards/poll"])
    def test_only_what_was_sent(self, box: Sandbox, path: str) -> None:
        """Defaults are not echoed."""
        assert set(echo(get(box, path))) <= {"account_id", "card_type"}


class TestBodies:
    """Operations with a JSON body; what the others echo is tried where they are."""

    def test_product_sets_echo_the_body(self, box: Sandbox) -> None:
        """Creation and update of a set echo all of the body, a refused one what could be read."""
        path = f"/{CATALOG}/product_sets"
        cheap = {"attribute": "price", "operator": "LESS_THAN", "value": "9.00 USD"}
        body = {"name": "F", "type": "FILTERED", "filters": [cheap]}
        update = {"name": "M", "description": None, "product_keys": [PRODUCT]}
        made = on_catalogs(box, "POST", path, json=body)
        refused = on_catalogs(box, "POST", path, json={**body, "type": "NEITHER"})
        changed = on_catalogs(box, "PUT", f"{path}/{SET}", json=update)
        shown = {"product_catalog_id": CATALOG, **body}
        assert (shown, without(shown, "type")) == (echo(made), echo(refused))
        assert {"product_catalog_id": CATALOG, "id": SET, **update} == echo(changed)

    @pytest.mark.parametrize(("criteria", "status"), [
        ([{"targeting_type": "BROAD_KEYWORD", "targeting_value": "coffee"}], 200),
        ([], 400),
        ([{"targeting_type": "GENDER", "targeting_value": "1"}], 400),
    ])  # fmt: skip
    def test_an_estimate_echoes_null(self, box: Sandbox, criteria: Any, status: int) -> None:
        """targeting_criteria is null in the echo, whatever was sent."""
        response = send(box, "POST", "audience_estimate", {"targeting_criteria": criteria})

        assert status == response.status_code
        assert {**HERE, "targeting_criteria": None} == echo(response)


class TestAccount:
    """Where account_id is not echoed."""

    @pytest.mark.parametrize("kind", ["draft", "scheduled"])
    def test_planned_posts_have_no_account(self, box: Sandbox, kind: str) -> None:
        """No verb echoes account_id for drafts and scheduled posts, a refused one neither."""
        box.world.clock.freeze(datetime(2026, 11, 20, tzinfo=UTC))
        path = f"{kind}_posts"
        when = {"scheduled_at": "2026-11-22T12:05:00Z"} if kind == "scheduled" else {}
        sent = {"as_user_id": "2244994945", "text": "Soon", **when}
        made = post(box, path, **sent)
        one = f"{path}/{made.get_json()['data']['id']}"
        answers = [made, get(box, path), get(box, one), put(box, one, text="Later")]
        if kind == "draft":
            answers.append(post(box, f"{path}/preview/{one.rpartition('/')[2]}"))
        answers += [delete(box, one), get(box, one), post(box, path), get(box, path, count="0")]

        assert [404, 400, 400] == [answer.status_code for answer in answers[-3:]]
        assert {200} == {answer.status_code for answer in answers[:-3]}
        for answer in answers:
            assert "account_id" not in echo(answer)

    @pytest.mark.parametrize(("path", "name", "key"), [
        ("", "entity_ids", "itttx"),
        ("/reach/campaigns", "campaign_ids", "8wku2"),
        ("/reach/funding_instruments", "funding_instrument_ids", "lygyi"),
    ])  # fmt: skip
    def test_statistics_have_an_account_when_refused(
        self, box: Sandbox, path: str, name: str, key: str
    ) -> None:
        """Figures do not echo account_id, but their refusals do."""
        sent = {name: key, "start_time": "2026-11-16T08:00:00Z"}
        if not path:
            sent |= {"entity": "LINE_ITEM", "granularity": "TOTAL", "metric_groups": "ENGAGEMENT"}
            sent["placement"] = "ALL_ON_PLATFORM"
        whole = f"/12/stats/accounts/{ACCOUNT}{path}"
        end = {"end_time": "2026-11-17T08:00:00Z"}
        answer = box.call("GET", whole, query_string=sent | end)
        refused = box.call("GET", whole, query_string=sent | {"end_time": "x"})

        assert (200, [key]) == (answer.status_code, echo(answer)[name])
        assert "account_id" not in echo(answer)
        assert (400, ACCOUNT, [key]) == (
            refused.status_code, echo(refused)["account_id"], echo(refused)[name]
        )  # fmt: skip

    def test_deleted_products_echo_their_keys_only(self, box: Sandbox) -> None:
        """The catalog is not echoed, nor in a refusal."""
        path = f"/{CATALOG}/products"
        gone = on_catalogs(box, "DELETE", path, json={"product_keys": [PRODUCT]})
        refused = on_catalogs(box, "DELETE", path, json={})

        assert (200, {"product_keys": [PRODUCT]}) == (gone.status_code, echo(gone))
        assert (400, {}) == (refused.status_code, echo(refused))


def test_a_refusal_echoes_what_could_be_read(box: Sandbox) -> None:
    """The parameter that was refused is left out."""
    response = get(box, "account_media", count="x", with_deleted="true")

    assert (400, {**HERE, "with_deleted": True}) == (response.status_code, echo(response))


def test_every_echoed_name_is_a_parameter(box: Sandbox) -> None:
    """What an operation renames or makes a number of is a parameter of its path or its own."""
    for operation in box.platform.operations:
        echoed, own = operation.echo, set(operation.path_names)
        if operation.params is not None:
            own |= set(operation.params().load_fields)
        assert {*echoed.names, *echoed.numbers} <= own, operation.id
        assert set(echoed.numbers) <= set(operation.path_names), operation.id


def test_a_number_of_20_digits_stays_text() -> None:
    """Path parameters become numbers while they are 64 bits wide."""
    numbers = Echo(numbers=("post_id",))

    assert {"post_id": 10**18} == numbers.echo_path({"post_id": str(10**18)})
    assert {"post_id": "1" * 20} == numbers.echo_path({"post_id": "1" * 20})
