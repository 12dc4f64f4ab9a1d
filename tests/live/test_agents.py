"""The servers for agents as published clients meet them: ten stories with the official Python SDK.

It is imported where it is used: that takes half a second, in each process that collects the tests.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from mock_platform import MockPlatform
from mock_platform.client.interface import WorldFace
from tests.live.processes import quick
from tests.live.sandboxes import starting
from tests.waits import run_async

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client.auth import OAuthClientProvider

pytestmark = pytest.mark.live

CALLBACK = "http://127.0.0.1:8090/callback"
ADS_SCOPES = ["ads.read", "ads.write", "offline.access"]
Story = Callable[["Agent", WorldFace], Awaitable[None]]
"""What a client does in a world, and what comes of it."""
Test = Callable[[WorldFace], None]


class Agent:
    """A client of one of the two servers; every call is read as a program would read it."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, /, **arguments: Any) -> Any:
        """The JSON of a tool that answered."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return json.loads(result.content[0].text)  # type: ignore[union-attr]

    async def fail(self, tool: str, /, **arguments: Any) -> Any:
        """The JSON of a tool that refused."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error
        return json.loads(result.content[0].text)  # type: ignore[union-attr]


class Storage:
    """The tokens of a client, and the client that the app has registered by hand."""

    def __init__(self, app: dict[str, Any]) -> None:
        from mcp.shared.auth import OAuthClientInformationFull

        self.tokens: Any = None
        self.info = OAuthClientInformationFull(
            client_id=app["client_id"],
            client_secret=app["client_secret"],
            redirect_uris=[CALLBACK],  # type: ignore[list-item]
            token_endpoint_auth_method="client_secret_basic",
        )

    async def get_tokens(self) -> Any:
        """The tokens so far."""
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        """Keep new tokens instead."""
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        """The registered client."""
        return self.info

    async def set_client_info(self, client_info: Any) -> None:
        """Keep another client instead."""
        self.info = client_info


@asynccontextmanager
async def connected(url: str, auth: Any) -> AsyncIterator[Agent]:
    """A client of the server at an address."""
    from httpx2 import AsyncClient
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {auth}"} if isinstance(auth, str) else {}
    async with (
        AsyncClient(headers=headers, auth=None if headers else auth) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield Agent(client)


platform = starting()
"""A sandbox for all stories; each has a world of its own."""


@pytest.fixture
def world(platform: MockPlatform, request: pytest.FixtureRequest) -> WorldFace:
    """A new world."""
    return platform.world(request.node.name.replace("[", "-").rstrip("]"))


def tell(story: Story, world: WorldFace, path: str, auth: Any = None) -> None:
    """Let a client do a story."""

    async def run() -> None:
        token = auth or world.credentials["user"]["oauth2_access_token"]
        async with connected(f"{world.base_url}{path}", token) as agent:
            await story(agent, world)

    run_async(run())


def at(path: str) -> Callable[[Story], Test]:
    """Make a story a test, of the server at a path."""

    def make(story: Story) -> Test:
        def test(world: WorldFace) -> None:
            tell(story, world, path)

        test.__doc__ = story.__doc__
        return test

    return make


def make_provider(world: WorldFace, storage: Storage, scopes: list[str]) -> OAuthClientProvider:
    """The SDK's sign-in with PKCE; the user of the sandbox allows whatever is asked for."""
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

    landed: list[str] = []

    async def go(address: str) -> None:
        landed.append(world.authorize(address))

    async def come_back() -> AuthorizationCodeResult:
        found = parse_qs(urlsplit(landed[-1]).query)
        return AuthorizationCodeResult(code=found["code"][0], state=found["state"][0])

    metadata = OAuthClientMetadata(
        client_name="Agent",
        redirect_uris=[CALLBACK],  # type: ignore[list-item]
        scope=" ".join(scopes),
    )
    server = f"{world.base_url}/ads/mcp"
    return OAuthClientProvider(server, metadata, storage, go, come_back)


def tools_called(world: WorldFace) -> list[tuple[str | None, str | None, int]]:
    """Tool, operation and status of each call."""
    return [(each.tool, each.operation, each.status) for each in world.journal if each.tool]


@at("/mcp")
async def test_search_and_read(agent: Agent, world: WorldFace) -> None:
    """Tools are found by their published names; a post that was found is read by its id."""
    tools = {tool.name: tool for tool in (await agent.client.list_tools()).tools}
    assert agent.client.server_info is not None
    assert ("xmcp", "2025-06-18") == (
        agent.client.server_info.name, agent.client.protocol_version,
    )  # fmt: skip
    assert ["query"] == tools["searchPostsRecent"].input_schema["required"]
    found = await agent.call("searchPostsRecent", query="coffee", max_results=10)
    first = found["data"][0]["id"]
    read = await agent.call("getPostsById", id=first, **{"post.fields": ["author_id"]})
    assert first == read["data"]["id"]
    assert {"author_id"} <= set(read["data"])

    assert "searchPostsRecent" == tools_called(world)[0][0]
    assert world.costs()["calls"] == 2


@at("/mcp")
async def test_post_and_delete(agent: Agent, world: WorldFace) -> None:
    """A post is there until it is deleted, for other clients as well."""
    made = (await agent.call("createPosts", text="From an agent"))["data"]["id"]
    assert made in world.state["posts"]
    assert {"data": {"deleted": True}} == await agent.call("deletePosts", id=made)
    assert made not in world.state["posts"]


@at("/mcp")
async def test_bookmark(agent: Agent, world: WorldFace) -> None:
    """A bookmark is in the list of the user whose token it is."""
    me = (await agent.call("getUsersMe"))["data"]["id"]
    post = (await agent.call("createPosts", text="Keep this"))["data"]["id"]
    await agent.call("createUsersBookmark", id=me, post_id=post)
    kept = await agent.call("getUsersBookmarks", id=me)
    assert post in [each["id"] for each in kept["data"]]


@at("/ads/mcp")
async def test_campaign_to_activation(agent: Agent, world: WorldFace) -> None:
    """Campaign and line item are created paused, whatever is asked for, until they are started."""
    account = (await agent.call("list_ads_accounts"))["data"][0]["id"]
    mine = {"account_id": account}
    funds = await agent.call("list_funding_instruments", **mine)
    campaign = await agent.call(
        "create_campaign", **mine, name="Spring", funding_instrument_id=funds["data"][0]["id"],
        entity_status="ACTIVE",
    )  # fmt: skip
    key = {"campaign_id": campaign["data"]["id"]}
    assert "PAUSED" == campaign["data"]["entity_status"]
    refused = await agent.fail("update_campaign", **mine, **key, entity_status="ACTIVE")
    assert "INVALID_PARAMETER" == refused["errors"][0]["code"]
    started = await agent.call("activate_campaign", **mine, **key)
    assert "ACTIVE" == started["data"]["entity_status"]

    assert ("activate_campaign", "campaigns.activate", 200) == tools_called(world)[-1]


@at("/ads/mcp")
async def test_statistics(agent: Agent, world: WorldFace) -> None:
    """Figures of a line item come as numbers by metric."""
    world.clock.travel("2026-01-05T00:00:00Z")
    account = (await agent.call("list_ads_accounts"))["data"][0]["id"]
    items = (await agent.call("list_line_items", account_id=account))["data"]
    figures = await agent.call(
        "get_account_stats", account_id=account, entity="LINE_ITEM",
        entity_ids=[items[0]["id"]], start_time="2026-01-01T00:00:00Z",
        end_time="2026-01-02T00:00:00Z", granularity="TOTAL", metric_groups=["ENGAGEMENT"],
        placement="ALL_ON_PLATFORM",
    )  # fmt: skip
    assert "impressions" in figures["data"][0]["id_data"][0]["metrics"]


def test_a_sign_in_with_pkce(world: WorldFace) -> None:
    """The client finds the endpoints by itself, and another sign-in ends the first."""
    storage, app = Storage(world.credentials["app"]), world.credentials["app"]["id"]

    async def story(agent: Agent, world: WorldFace) -> None:
        assert (await agent.call("list_ads_accounts"))["data"]

    tell(story, world, "/ads/mcp", make_provider(world, storage, ADS_SCOPES))
    first = storage.tokens.access_token
    tell(
        story, world, "/ads/mcp",
        make_provider(world, Storage(world.credentials["app"]), ADS_SCOPES),
    )  # fmt: skip

    kept = [each for each in world.state["tokens"].all() if each["app_id"] == app]
    assert "invalidated" == next(each["state"] for each in kept if each["id"] == first)
    assert {"scope"} <= storage.tokens.model_fields_set


def test_a_token_that_expires_in_the_middle(world: WorldFace) -> None:
    """The client refreshes it and goes on; the refresh token is another one afterwards."""
    storage = Storage(world.credentials["app"])
    provider = make_provider(world, storage, ADS_SCOPES)

    async def story(agent: Agent, world: WorldFace) -> None:
        assert (await agent.call("list_ads_accounts"))["data"]
        before = storage.tokens
        world.clock.advance(hours=2, seconds=1)
        provider.context.token_expiry_time = 1.0  # the SDK looks at its machine's clock
        assert (await agent.call("list_ads_accounts"))["data"]
        assert before.access_token != storage.tokens.access_token
        assert before.refresh_token != storage.tokens.refresh_token

    tell(story, world, "/ads/mcp", provider)


def test_a_missing_scope(world: WorldFace) -> None:
    """A token that may only read is refused by the tools that write, in each server's words."""
    token = world.credentials["user"]["oauth2_access_token"]
    world.state["tokens"].patch(token, {"scopes": ["ads.read", "post.read", "users.read"]})

    async def read_ads(agent: Agent, world: WorldFace) -> None:
        account = (await agent.call("list_ads_accounts"))["data"][0]["id"]
        refused = await agent.fail(
            "create_campaign", account_id=account, name="A", funding_instrument_id="m2k8s"
        )
        assert "UNAUTHORIZED_CLIENT_APPLICATION" == refused["errors"][0]["code"]
        assert "ads.write" in refused["errors"][0]["message"]

    async def read(agent: Agent, world: WorldFace) -> None:
        assert 403 == (await agent.fail("createPosts", text="no"))["status"]

    tell(read_ads, world, "/ads/mcp")
    tell(read, world, "/mcp")


@at("/mcp")
async def test_a_limit(agent: Agent, world: WorldFace) -> None:
    """Beyond the limit the tool says so, and after the window it answers again."""
    world.activate("rate-limited", on="users.me", limit=1, window=900)
    await agent.call("getUsersMe")
    assert 88 == (await agent.fail("getUsersMe"))["code"]
    world.clock.advance(minutes=16)
    await agent.call("getUsersMe")

    assert [200, 429, 200] == [status for *_, status in tools_called(world)]


def test_a_lost_answer(world: WorldFace) -> None:
    """The connection breaks after the post was made: the client ends, and the journal knows."""
    lost = {"fault": "reset", "stage": "after_commit"}
    rule = {"on": "public_posts.create", "call": 1, "then": lost}
    world.activate(world.define({"name": "lost", "description": "Lost.", "rules": [rule]}))
    before = len(world.state["posts"])

    async def story(agent: Agent, world: WorldFace) -> None:
        await agent.call("createPosts", text="Lost?")

    with pytest.raises(ExceptionGroup):
        tell(story, world, "/mcp")

    (entry,) = (each for each in world.journal if each.tool == "createPosts")
    assert {"how": "reset", "bytes": 0} == entry.ended
    assert before + 1 == len(world.state["posts"])


def test_an_agent_that_starts_the_command(world: WorldFace) -> None:
    """On standard input and output it steers the world that the command names."""
    from mcp import Client, StdioServerParameters, stdio_client

    async def run() -> str:
        program, *words = quick("mcp", "--url", world.base_url)
        server = StdioServerParameters(command=program, args=words)
        async with Client(stdio_client(server)) as client:
            tools = (await client.list_tools()).tools
            assert 12 == len(tools)
            result = await client.call_tool("move_clock", {"by": "1d"})
            return str(result.content[0].text)  # type: ignore[union-attr]

    before = world.clock.now()

    assert f"The clock of world {world.name} is at" in run_async(run())
    assert world.clock.now() - before > timedelta(hours=23)
