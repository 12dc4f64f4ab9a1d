"""Refusals of the v2 interface in its own words, as documented and as recorded."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest

from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, HARBOR, USER_TOKEN, Sandbox

USER = "2244994945"
RECORDED = {"X-Mock-Wire": "recorded"}
SEARCH, COUNTS, RULES = (
    "/2/posts/search/recent", "/2/posts/counts/recent", "/2/posts/search/stream/rules",
)  # fmt: skip
ask = partial(Refusal, f"GET {SEARCH}")
make = partial(Refusal, "POST /2/posts")
recorded = partial(Refusal, more={"headers": RECORDED})
DAYS = {"start_time": "2026-11-21T00:00:00Z", "end_time": "2026-11-20T00:00:00Z"}
MIXED = "Invalid use of 'since_id' or 'until_id' in conjunction with 'start_time' or 'end_time'."


def error(message: str, **parameters: Any) -> dict[str, Any]:
    """What a body has that is refused for one reason."""
    return {"errors": [{"message": message, "parameters": parameters}]}


MALFORMED = (
    "GET /2/dm_conversations/with/:participant_id/dm_events", "GET /2/dm_events/:event_id",
    "GET /2/dm_conversations/:dm_conversation_id/dm_events", "GET /2/news/:id",
    "POST /2/media/upload/:id/finalize", "DELETE /2/notes/:id",
    "POST /2/articles/:article_id/publish", "GET /2/chat/media/1-2/:media_hash_key",
)  # fmt: skip
REFUSED = [
    *(
        Refusal(re.sub(r":\w+", "a-1", route), f"no id in {route}", 400,
                shows=error(f"The `{name}` query parameter value [a-1] is not valid",
                            **{name: ["a-1"]}))
        for route in MALFORMED for name in re.findall(r":(\w+)", route)
    ),
    Refusal(f"GET {RULES}", "no rule id", 400, keys=BEARER, query={"ids": "1,a"},
            shows=error("The `ids` query parameter value [a] does not match ^[0-9]{1,19}$",
                        ids=["1,a"])),
    ask("a number beyond its bounds", 400, query={"query": "a", "max_results": "9"},
        shows=error("The `max_results` query parameter value [9] is not between 10 and 100",
                    max_results=["9"])),
    ask("a value that is not listed", 400, query={"query": "a", "sort_order": "x"},
        shows=error("The `sort_order` query parameter value [x] is not one of [recency,relevancy]",
                    sort_order=["x"])),
    ask("no number", 400, query={"query": "a", "max_results": "x"},
        shows=error("The `max_results` query parameter value [x] is not valid",
                    max_results=["x"])),
    ask("nothing of what is required", 400, shows=error("field is required", query=[])),
    ask("an empty text", 400, query={"query": ""},
        messages=["The `query` query parameter can not be empty"]),
    ask("an end before the start", 400, query={"query": "a", **DAYS},
        messages=["Invalid 'start_time':'2026-11-21T00:00Z'. 'start_time' must be before "
                  "'end_time':2026-11-20T00:00Z"],
        shows={"errors": [{"parameters": {
            "start_time": ["2026-11-21T00:00:00.000Z"],
            "end_time": ["2026-11-20T00:00:00.000Z"]}}]}),
    *(
        Refusal(f"GET {path}", f"{value} as {name} of {path}", 400,
                keys=USER_TOKEN, query={"query": "a", name: value},
                messages=[f"The `{name}` query parameter value [{value}] is not valid"])
        for path in (SEARCH, COUNTS, f"/2/users/{USER}/posts", f"/2/users/{USER}/mentions")
        for name in ("start_time", "end_time")
        for value in ("2026-11-20", "2026-11-20T00:00:00")
    ),
    Refusal("GET /2/users", "the same fault three times", 400, keys=BEARER,
            query={"ids": "NA,NA,NA"},
            shows=error("The `ids` query parameter value [NA] does not match ^[0-9]{1,19}$",
                        ids=["NA,NA,NA"])),
    make("no media", 400, json={"media": {"media_ids": []}},
         messages=["$.media.media_ids: there must be a minimum of 1 item in the array"]),
    make("another type", 400, json={"media": {"media_ids": "1"}},
         messages=["$.media.media_ids: string found, array expected"]),
    make("unknown media", 400, json={"media": {"media_ids": ["5"]}},
         messages=["Your media IDs are invalid."]),
    make("a key that is missing in the body", 400, json={"text": "a", "reply": {}},
         shows={"errors": [{
             "message": "$.reply.in_reply_to_post_id: is missing but it is required",
             "parameters": {"reply.in_reply_to_post_id": ["{}"]}}]}),
    Refusal(f"POST {RULES}", "a body of rules that is wrong", 400, keys=BEARER,
            json={"delete": {"ids": []}},
            shows=error("JSON doesn't match expected schema", delete=[])),
    recorded("POST /2/posts", "the object around a missing key, as recorded", 400,
             json={"text": "a", "reply": {}},
             shows={"errors": [{
                 "message": "$.reply.in_reply_to_post_id: is missing but it is required",
                 "parameters": {"$.reply": ["{}"]}}]}),
    recorded("POST /2/posts", "an empty list, as recorded", 400, json={"media": {"media_ids": []}},
             shows=error("$.media.media_ids: there must be a minimum of 1 item in the array",
                         **{"$.media.media_ids": []})),
    recorded(f"GET {COUNTS}", "an unknown parameter, as recorded", 400, keys=BEARER,
             query={"query": "a", "previous_token": "b", "granularity": "x"},
             messages=["The query parameter [previous_token] is not one of [query,start_time,"
                       "end_time,since_id,until_id,next_token,pagination_token,granularity,"
                       "search_count.fields]",
                       "The `granularity` query parameter value [x] is not one of [minute,"]),
    recorded("POST /2/posts", "an unknown key, as recorded", 400,
             json={"text": "a", "media": {"media_ids": ["5"], "x": 1}},
             shows={"errors": [{
                 "message": "$.media.x: is not defined in the schema and the schema does not "
                            "allow additional properties",
                 "parameters": {"$.media": ['{"media_ids":["5"],"x":1}']}}]}),
    recorded("POST /2/posts", "an unknown parameter beside a body, as recorded", 400,
             json={"text": "a"}, query={"x": 1},
             messages=["The query parameter [x] is not one of []"]),
    recorded(f"GET {SEARCH}", "an id beside a time, as recorded", 400, keys=BEARER,
             query={"query": "a", "until_id": "9", "start_time": "2026-11-21T00:00:00Z"},
             shows={"errors": [{"message": MIXED, "parameters": {
                 "until_id": ["9"], "start_time": ["2026-11-21T00:00:00.000Z"]}}]}),
    recorded("POST /2/posts", "a form, as recorded", 400, form={"text": "a"},
             messages=["Requests with bodies must have content-type of application/json."]),
]  # fmt: skip


test_what_is_refused = make_refusal_test(REFUSED)


def test_names_of_refusals_are_original(box: Sandbox) -> None:
    """A list of names in a refusal has the names that the client knows."""
    answer = box.call(
        "GET",
        f"{SEARCH}?query=a&tweet.fields=x&y=1",
        headers={"X-Mock-Names": "original"} | RECORDED,
    )

    unknown, listed = (each["message"] for each in answer.get_json()["errors"])
    assert "sort_order,expansions,tweet.fields,media.fields" in unknown
    assert "edit_history_tweet_ids" in listed
    assert "post" not in unknown + listed


@pytest.mark.parametrize("query", ["query=a&x=1", "query=a&since_id=1&start_time={now}"])
def test_what_is_only_refused_as_recorded(box: Sandbox, query: str) -> None:
    """As documented, both are a warning."""
    now = f"{box.world.clock.now():%Y-%m-%dT00:00:00Z}"
    answer = box.call("GET", f"{SEARCH}?{query.format(now=now)}", keys=BEARER)
    assert 200 == answer.status_code
    assert answer.headers["X-Mock-Warnings"] in {"unknown-parameter", "no-effect"}


@pytest.mark.parametrize(
    ("path", "form"),
    [
        (f"{SEARCH}?query=harbor", "[0-9a-z]{45}"),
        (f"{SEARCH}?query=harbor&sort_order=relevancy", "[0-9a-z]{45}"),
        ("/2/posts/counts/all?query=a&start_time=2026-06-01T00:00:00Z", "[0-9a-z]{45}"),
        (f"{RULES}?max_results=1", "[0-9a-z]{16}"),
        (f"/2/users/{USER}/followers?max_results=1", "[0-9A-Z]{15}Z"),
        ("/2/dm_events?max_results=1", "[0-9A-Z]{23}Z"),
    ],
)
def test_tokens(box: Sandbox, path: str, form: str) -> None:
    """Tokens have the forms that clients check, and one that was changed is refused."""
    keys = HARBOR if path.startswith("/2/dm") else BEARER
    if path.startswith(RULES):
        box.call("POST", RULES, keys=keys, json={"add": [{"value": one} for one in ("ab", "cd")]})
    if path.startswith(SEARCH):
        for number in range(11):
            box.call("POST", "/2/posts", json={"text": f"harbor {number} {form} {path}"})
    token = box.call("GET", path, keys=keys).get_json()["meta"]["next_token"]
    name = "&pagination_token="
    changed = token[:5] + ("1" if token[5] == "0" else "0") + token[6:]

    assert re.fullmatch(form, token)
    assert 200 == box.call("GET", path + name + token, keys=keys).status_code
    assert 400 == box.call("GET", path + name + changed, keys=keys).status_code
    if "query" in path:
        other = path.replace("query=", "query=not+") + name + token
        assert 400 == box.call("GET", other, keys=keys).status_code


def test_pages_of_messages_as_recorded(box: Sandbox) -> None:
    """Each page has both tokens; the list ends with an empty page, which has none."""
    pages, more = [], ""
    while True:
        path = f"/2/dm_events?max_results=50{more}"
        meta = box.call("GET", path, headers=RECORDED).get_json()["meta"]
        pages.append({*meta})
        if "next_token" not in meta:
            break
        more = f"&pagination_token={meta['next_token']}"
    first = box.call("GET", "/2/dm_events?max_results=100").get_json()["meta"]

    assert {frozenset({"result_count", "next_token", "previous_token"})} == {
        frozenset(page) for page in pages[:-1]
    }
    assert {"result_count"} == pages[-1]
    assert "previous_token" not in first


def test_usage_as_recorded(box: Sandbox) -> None:
    """Numbers are texts but for two; an app that has read nothing has no usage."""
    app = box.world.store.get("apps", "11827")
    assert app is not None
    box.world.store.put("apps", "7", app | {"id": "7"})
    fields = "cap_reset_day,project_cap,project_usage,daily_client_app_usage"
    answer = box.call(
        "GET", f"/2/usage/posts?days=1&usage.fields={fields}", keys=BEARER, headers=RECORDED
    )

    data = answer.get_json()["data"]
    assert (1, "500000") == (data["cap_reset_day"], data["project_cap"])
    assert data["project_usage"].isdigit()
    apps = {app["client_app_id"]: app for app in data["daily_client_app_usage"]}
    assert {"client_app_id": "7", "usage_result_count": 1} == apps["7"]


def test_who_is_missing_is_named_for_each_post(box: Sandbox) -> None:
    """An expansion that finds nothing is an error for each post that refers to it."""
    ids = []
    for number in range(2):
        made = box.call("POST", "/2/posts", json={"text": f"Hello {number}"}).get_json()
        ids.append(made["data"]["id"])
        mention = {"screen_name": "gone_user", "id_str": "5", "indices": [0, 5]}
        box.change("posts", ids[-1], entities={"user_mentions": [mention, mention]})
    path = f"/2/posts?ids={','.join(ids)}&expansions=entities.mentions.username"

    errors = box.call("GET", path, keys=BEARER).get_json()["errors"]
    assert [("entities.mentions.username", "gone_user")] * 2 == [
        (each["parameter"], each["value"]) for each in errors
    ]
