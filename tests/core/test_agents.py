"""The platform's servers for agents: tools are operations, called as the others are."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from mock_platform.api.served import AGENT_TOOLS, PUBLISHED_IDS
from tests.generated import examples
from tests.oauth_steps import last
from tests.support import ACCOUNT, BEARER, USER_TOKEN, Sandbox, sandbox
from tests.support_agents import read, send, use

ADS = "/ads/mcp"
FUNDS = {"account_id": ACCOUNT, "funding_instrument_id": "m2k8s"}
SURFACE = Path(__file__).parents[1] / "api" / "v2" / "surface.json"


def list_tools(box: Sandbox, path: str = "/mcp", **headers: str) -> dict[str, Any]:
    """All tools of a server, by their names."""
    found = read(send(box, "tools/list", path=path, headers=headers))["tools"]
    return {tool["name"]: tool for tool in found}


def test_tools_of_v2(box: Sandbox) -> None:
    """Those of the public description but for streams and webhooks."""
    surface = json.loads(SURFACE.read_text("utf-8"))["operations"]
    left_out = ("/stream", "/webhooks")
    tools = list_tools(box)

    published = {
        each["id"]
        for each in surface
        if each["id"] in PUBLISHED_IDS.values()
        and not any(part in each["operation"] for part in left_out)
    }
    assert published | {"getOpenApiSpec"} == set(tools) | {"getOpenApiSpec"}
    assert ["id", "post_id"] == tools["createUsersBookmark"]["inputSchema"]["required"]
    assert ["query"] == tools["searchPostsRecent"]["inputSchema"]["required"]


@pytest.mark.parametrize("path", ["/mcp", ADS])
def test_schemas_are_whole(box: Sandbox, path: str) -> None:
    """Each is a valid JSON Schema of an object, which refers to nothing outside of it."""
    for name, tool in list_tools(box, path).items():
        schema = tool["inputSchema"]
        Draft202012Validator.check_schema(schema)
        assert "object" == schema["type"]
        assert "#/components" not in json.dumps(schema), name
        assert set(schema["required"]) <= set(schema["properties"]), name


def test_tools_of_ads(box: Sandbox) -> None:
    """The 23 of the reference; what starts a campaign is no argument of the others."""
    tools = list_tools(box, ADS)

    assert (23, set(AGENT_TOOLS.values())) == (len(tools), set(tools))
    assert "entity_status" not in tools["create_line_item"]["inputSchema"]["properties"]
    status = tools["update_campaign"]["inputSchema"]["properties"]["entity_status"]
    assert ["PAUSED"] == status["enum"]


def test_original_names(box: Sandbox) -> None:
    """Tools keep their names; arguments and answers have the original ones, and both are taken."""
    tools = list_tools(box, **{"X-Mock-Names": "original"})
    call = {"name": "createPosts", "arguments": {"text": "Hm", "quote_tweet_id": "5"}}
    answer = send(box, "tools/call", call, headers={"X-Mock-Names": "original"})

    assert "tweet.fields" in tools["getPostsById"]["inputSchema"]["properties"]
    assert read(answer)["isError"]
    assert last(box).url == "http://localhost/2/tweets"


def test_a_call_is_the_request_to_its_operation(box: Sandbox) -> None:
    """The journal has it as that request, with the name of its tool; so have costs and markers."""
    refused, made = use(box, "createPosts", text="From an agent")
    entry = last(box)

    assert (False, "From an agent") == (refused, made["data"]["text"])
    assert ("createPosts", "public_posts.create", 201) == (
        entry.tool,
        entry.operation,
        entry.status,
    )
    assert ("POST", "http://localhost/2/posts") == (entry.method, entry.url)
    assert made == json.loads(entry.response_body)
    assert "createPosts" == entry.as_json()["tool"]
    assert "0.015" == entry.as_json()["cost"]["usd"]
    for page in ("/_mock/", f"/_mock/console/requests/{entry.id}"):
        assert "(tool createPosts)" in box.client.get(page).text


def test_arguments_take_their_places(box: Sandbox) -> None:
    """In the path encoded, lists with commas in the query, all else in the body."""
    fields: dict[str, Any] = {"user.fields": ["id", "name"]}
    use(box, "getUsersByUsername", username="a/b c", **fields)
    assert "/2/users/by/username/a%2Fb%20c?user.fields=id%2Cname" in last(box).url

    use(box, "createPosts", text="x", poll={"options": ["a", "b"], "duration_minutes": 5})
    assert {"text", "poll"} == set(json.loads(last(box).request_body))

    use(box, "list_campaigns", ADS, account_id=ACCOUNT, with_deleted=True, count=2)
    assert last(box).url.endswith("/campaigns?count=2&with_deleted=true")


@pytest.mark.parametrize("value", [None, "", True, ["1"], {"a": 1}, 1.5])
def test_a_part_of_the_path_is_a_text(box: Sandbox, value: Any) -> None:
    """Another value, or none, is an error of the protocol."""
    params = {"name": "getUsersById", "arguments": {"id": value}}

    assert -32602 == read(send(box, "tools/call", params))["code"]
    assert (None, "mcp tools/call") == (last(box).operation, last(box).custom)


def test_refusals_are_results(box: Sandbox) -> None:
    """What the operation refuses has its JSON; the status of the answer is 200."""
    params = {"name": "searchPostsRecent", "arguments": {"query": "("}}
    answer = send(box, "tools/call", params)

    assert (200, True) == (answer.status_code, read(answer)["isError"])
    assert 400 == last(box).status
    assert last(box).why is not None


@pytest.mark.parametrize(("path", "token", "status"), [
    ("/mcp", None, 401),
    ("/mcp", "wrong", 401),
    ("/mcp", BEARER, 200),
    (ADS, None, 401),
    (ADS, BEARER, 401),
    (ADS, USER_TOKEN, 200),
    ("/sandbox/mcp", USER_TOKEN, 200),
])  # fmt: skip
@pytest.mark.parametrize("method", ["initialize", "tools/list", "ping"])
def test_tokens(box: Sandbox, path: str, token: str | None, status: int, method: str) -> None:
    """Nobody without a token is answered; of the two only ads says where to get one."""
    params = {"protocolVersion": "2025-06-18"} if method == "initialize" else {}
    answer = send(box, method, params, path=path, token=token)

    assert status == answer.status_code
    if status == 401:
        told = answer.headers["WWW-Authenticate"]
        assert told.startswith("Bearer")
        assert (path == ADS) == ('resource_metadata="http://localhost/ads/.well-known/' in told)
        assert (token is not None) == ("invalid_token" in told)


@pytest.mark.parametrize(
    ("path", "tool", "arguments"),
    [("/mcp", "createPosts", {"text": "x"}), (ADS, "list_campaigns", {"account_id": ACCOUNT})],
)
def test_an_expired_token(box: Sandbox, path: str, tool: str, arguments: Any) -> None:
    """The call of a tool is 401, so that a bridge refreshes it, and the journal has the tool."""
    box.change("tokens", USER_TOKEN, expires_at="2026-01-01T00:00:00.000Z")

    answer = send(box, "tools/call", {"name": tool, "arguments": arguments}, path=path)

    assert 401 == answer.status_code
    assert answer.headers["WWW-Authenticate"].startswith('Bearer error="invalid_token"')
    assert tool == last(box).tool
    assert "expired" in last(box).why


def test_nobody_without_a_token_learns_of_tools(box: Sandbox) -> None:
    """An unknown tool is 401 for them."""
    assert 401 == send(box, "tools/call", {"name": "nope"}, token=None).status_code


def test_scopes_of_ads(box: Sandbox) -> None:
    """ads.read reads, ads.write writes, and each is asked for by its name."""
    box.change("tokens", USER_TOKEN, scopes=["ads.read"])
    assert not use(box, "list_campaigns", ADS, account_id=ACCOUNT)[0]
    refused, told = use(box, "create_campaign", ADS, **FUNDS, name="A")
    box.change("tokens", USER_TOKEN, scopes=["ads.write"])

    assert (True, "UNAUTHORIZED_CLIENT_APPLICATION") == (refused, told["errors"][0]["code"])
    assert "ads.write" in told["errors"][0]["message"]
    assert (
        "ads.read" in use(box, "list_campaigns", ADS, account_id=ACCOUNT)[1]["errors"][0]["message"]
    )


def test_a_reader_of_posts_cannot_post(box: Sandbox) -> None:
    """The v2 server asks for the scopes of the operation; the app's token reads alone."""
    box.change("tokens", USER_TOKEN, scopes=["post.read", "users.read"])

    assert 403 == use(box, "createPosts", text="x")[1]["status"]
    assert use(box, "createPosts", token=BEARER, text="x")[0]
    assert not use(box, "searchPostsRecent", token=BEARER, query="coffee")[0]


def test_an_app_that_is_not_enrolled(box: Sandbox) -> None:
    """It is 403, whatever it sends; the v2 server does not ask."""
    box.change("apps", "11827", _ads_agents=False)
    call = {"name": "list_campaigns", "arguments": {"account_id": ACCOUNT}}

    answers = [send(box, "ping", path=ADS), send(box, "tools/call", call, path=ADS)]

    assert [403, 403] == [answer.status_code for answer in answers]
    assert 200 == send(box, "ping").status_code


@pytest.mark.parametrize("status", [None, "ACTIVE", "PAUSED", "DRAFT", 5])
def test_a_creation_is_paused(box: Sandbox, status: Any) -> None:
    """Whatever the argument says, which is a warning if it is another."""
    given = {} if status is None else {"entity_status": status}
    refused, made = use(box, "create_campaign", ADS, **FUNDS, name="A", **given)

    assert (False, "PAUSED") == (refused, made["data"]["entity_status"])
    assert (status not in {None, "PAUSED"}) == bool(last(box).warnings)


def test_only_activation_starts(box: Sandbox) -> None:
    """An update may pause, and not start."""
    key = use(box, "create_campaign", ADS, **FUNDS, name="A")[1]["data"]["id"]
    mine = {"account_id": ACCOUNT, "campaign_id": key}

    def status(tool: str, **more: str) -> str:
        refused, told = use(box, tool, ADS, **mine, **more)
        return str(told["errors"][0]["code"] if refused else told["data"]["entity_status"])

    assert "INVALID_PARAMETER" == status("update_campaign", entity_status="ACTIVE")
    assert "campaigns.update" == last(box).operation
    started = {"name": "update_campaign", "arguments": {**mine, "entity_status": "ACTIVE"}}
    assert 401 == send(box, "tools/call", started, path=ADS, token=None).status_code
    assert "ACTIVE" == status("activate_campaign")
    assert "PAUSED" == status("update_campaign", entity_status="PAUSED")


def test_worlds_and_scenarios(box: Sandbox) -> None:
    """A call acts in the world of its address, under that world's rules."""
    box.client.put("/_mock/worlds/w1")
    box.client.post(
        "/~w1/_mock/scenarios/rate-limited/activate",
        json={"parameters": {"on": "campaigns.list", "limit": 0, "window": 60}},
    )
    mine = {"account_id": ACCOUNT}

    assert use(box, "list_campaigns", "/~w1/ads/mcp", **mine)[0]
    assert not use(box, "list_campaigns", ADS, **mine)[0]
    entry = box.platform.worlds.get("w1").journal.find()[-1]
    assert ("list_campaigns", 429) == (entry.tool, entry.status)
    assert entry.url.startswith("http://localhost/~w1/12/accounts/")


def test_a_failure_for_one_call(box: Sandbox) -> None:
    """`Prefer` and `X-Mock-Scenario` of a message are those of the call."""
    call = {"name": "getUsersMe", "arguments": {}}
    answer = send(box, "tools/call", call, headers={"Prefer": "code=503"})

    assert (True, 503) == (read(answer)["isError"], last(box).status)


def test_strict() -> None:
    """The specification does not show the servers."""
    assert 501 == send(sandbox(strict=True), "ping").status_code


def test_with_authentication_off() -> None:
    """Everybody is the well-known user."""
    assert not use(sandbox(auth="off"), "list_campaigns", ADS, token=None, account_id=ACCOUNT)[0]


@pytest.mark.parametrize(("host", "path", "expected"), [
    ("ads-api.x.com", "/.well-known/oauth-protected-resource", "https://ads-api.x.com/mcp"),
    ("ads-api.x.com", "/.well-known/oauth-protected-resource/mcp", "https://ads-api.x.com/mcp"),
    ("api.x.com", "/.well-known/oauth-protected-resource", None),
    ("localhost", "/.well-known/oauth-protected-resource", None),
    ("localhost", "/ads/.well-known/oauth-protected-resource", "https://localhost/ads/mcp"),
    ("localhost", "/.well-known/oauth-protected-resource/ads/mcp", "https://localhost/ads/mcp"),
    ("localhost", "/.well-known/oauth-protected-resource/~default/ads/mcp",
     "https://localhost/~default/ads/mcp"),
    ("localhost", "/sandbox/.well-known/oauth-protected-resource", "https://localhost/sandbox/mcp"),
])  # fmt: skip
def test_metadata(box: Sandbox, host: str, path: str, expected: str | None) -> None:
    """The advertising server says where a token comes from, the v2 server does not."""
    answer = box.client.get(path, base_url=f"https://{host}")

    assert (404 if expected is None else 200) == answer.status_code
    if expected is not None:
        assert expected == answer.get_json()["resource"]


def test_metadata_of_the_authorization_server(box: Sandbox) -> None:
    """At the real hosts the addresses are those of consent page and tokens there."""
    path = "/.well-known/oauth-authorization-server"
    shown = box.client.get(path, base_url="https://ads-api.x.com").get_json()

    assert "https://ads-api.x.com" == shown["issuer"]
    assert "https://x.com/i/oauth2/authorize" == shown["authorization_endpoint"]
    assert "https://api.x.com/2/oauth2/token" == shown["token_endpoint"]
    assert ["none", "client_secret_basic"] == shown["token_endpoint_auth_methods_supported"]
    assert "registration_endpoint" not in shown


@cache
def list_all_tools() -> list[tuple[str, str, dict[str, Any]]]:
    """Path, name and arguments of each tool. They are listed late: a description takes a while."""
    return [
        (path, name, tool["inputSchema"]["properties"])
        for path in ("/mcp", ADS)
        for name, tool in list_tools(find_open(), path).items()
    ]


@cache
def find_open() -> Sandbox:
    """A sandbox that authenticates no one."""
    return sandbox(auth="off")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=20)
    | st.sampled_from([ACCOUNT, "2244994945", "1789900000000000009", "2026-01-01T00:00:00Z"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, str, dict[str, Any]]:
    """A server, a tool, and values for some of its arguments, and for one that it has not."""
    path, name, properties = draw(st.sampled_from(list_all_tools()))
    names = draw(st.lists(st.sampled_from([*properties, "surplus"]), unique=True, max_size=6))
    return path, name, {each: draw(JSON) for each in names}


@examples(500)
@given(calls())
def test_generated_calls(call: tuple[str, str, dict[str, Any]]) -> None:
    """Each is a result or an error of the protocol, and nothing of the sandbox fails."""
    path, name, arguments = call
    box, asked = find_open(), {"name": name, "arguments": arguments}
    answer = send(box, "tools/call", asked, path=path, token=None)
    found = read(answer)

    assert 200 == answer.status_code
    assert {"content", "isError"} == set(found) or -32602 == found["code"]
    assert last(box).status < 500
