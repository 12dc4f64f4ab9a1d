from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
import requests
from requests.adapters import BaseAdapter, HTTPAdapter

from mock_platform import MockPlatform, WsgiAdapter
from mock_platform.client.interface import PlatformFace
from mock_platform.serving.in_process.session import AllowedHosts, ForeignHost
from tests.serving.in_process.test_session import BASE, answering, echo, session

FOREIGN = "https://api.example.com"


@pytest.fixture(params=["local", "remote"])
def platform(request: pytest.FixtureRequest) -> Iterator[PlatformFace]:
    """A sandbox in this process, and the same one as a server elsewhere."""
    with MockPlatform.start() as here:
        if request.param == "local":
            yield here
        else:
            with MockPlatform.connect(here.base_url) as there:
                yield there


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket of this machine that waits for connections."""
    with socket.create_server(("127.0.0.1", 0)) as waiting:
        waiting.settimeout(0)
        yield waiting


class Recorded(BaseAdapter):
    """An adapter that keeps what it was asked, and sends nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str | None] = []

    def send(
        self, request: requests.PreparedRequest, *_: object, **__: object
    ) -> requests.Response:
        """Returns an empty answer."""
        self.urls.append(request.url)
        answer = requests.Response()
        answer.status_code, answer.url = 204, request.url or ""
        return answer

    def close(self) -> None:
        """Nothing is open."""


def test_a_forgotten_base_address_does_not_leave(
    platform: PlatformFace, listener: socket.socket
) -> None:
    """A signed request to another host is refused before a connection is opened."""
    real = f"http://api.example.com:{listener.getsockname()[1]}"
    client = platform.session("oauth1")

    with pytest.raises(ForeignHost, match=r"GET http://api\.example\.com/12/accounts was not sent"):
        client.get(f"{real}/12/accounts")
    with pytest.raises(BlockingIOError):
        listener.accept()
    assert 0 == platform.journal.count()


def test_the_refusal_names_the_remedies() -> None:
    """The sentence has what can be copied, and no query: that may hold secrets."""
    with pytest.raises(ForeignHost) as raised:
        session(echo).post(f"{FOREIGN}/2/posts?access_token=t")

    assert (
        "POST https://api.example.com/2/posts was not sent: this session belongs to a sandbox and "
        "calls no other host. What to do: let your client call http://sandbox.test:8080 (the base "
        "address of the sandbox); or let the sandbox answer for that host: "
        "session.mount('https://api.example.com', WsgiAdapter(platform.wsgi)); or, if "
        "api.example.com really is to be called, open it with passthrough=['api.example.com']."
    ) == str(raised.value)


def test_the_remedy_works() -> None:
    """With the adapter, as the sentence says it, the sandbox answers for the real host."""
    with MockPlatform.start() as platform:
        client = platform.session("oauth1")
        client.mount(FOREIGN, WsgiAdapter(platform.wsgi))

        assert 200 == client.get(f"{FOREIGN}/12/accounts").status_code


def test_a_host_can_be_opened(platform: PlatformFace) -> None:
    """A host in `passthrough` is called over the network, by any port and in any case."""
    client = platform.session(passthrough=["Api.Example.com"])
    called: list[str | None] = []
    network = client.get_adapter(FOREIGN)
    assert isinstance(network, HTTPAdapter)

    def send(request: requests.PreparedRequest, **_: object) -> requests.Response:
        called.append(request.url)
        return Recorded().send(request)

    network.send = send  # type: ignore[method-assign,assignment]

    assert 204 == client.get("https://api.example.com:8443/x").status_code
    with pytest.raises(ForeignHost):
        client.get("https://other.example.com/")
    assert ["https://api.example.com:8443/x"] == called


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://x.localhost:{port}/"]
)
def test_this_machine_is_called(platform: PlatformFace, url: str) -> None:
    """Other servers of a test, such as a receiver of webhooks, are on this machine."""
    port = platform.base_url.rpartition(":")[2]

    AllowedHosts("http://sandbox.test").check("GET", url.format(port=port))
    answer = platform.session().get(f"http://127.0.0.1:{port}/12/accounts")

    assert 401 == answer.status_code


def test_an_adapter_of_ones_own_may_call_anything() -> None:
    """Whoever mounts something other than the adapter of requests means it."""
    client, own = session(echo), Recorded()
    client.mount("https://", own)

    client.get(f"{FOREIGN}/x")

    assert [f"{FOREIGN}/x"] == own.urls


def test_retries_for_the_real_host_open_nothing() -> None:
    """Clients mount an adapter with retries for the host that they know: still refused."""
    client = session(echo)
    client.mount(FOREIGN, HTTPAdapter(max_retries=3))

    with pytest.raises(ForeignHost):
        client.get(FOREIGN)


def test_a_redirect_to_another_host_is_not_followed() -> None:
    """The refusal adds how to read the address of, for instance, a callback."""
    target = "https://client.example.com/callback?oauth_verifier=v"
    client = session(answering("302 Found", [("Location", target)]))

    with pytest.raises(ForeignHost, match=r"It was a redirect: with allow_redirects=False"):
        client.get(f"{BASE}/oauth/authorize")
    assert target == client.get("/x", allow_redirects=False).headers["Location"]


@pytest.mark.parametrize(
    ("passthrough", "kind"),
    [
        ("api.example.com", TypeError),
        (["https://api.example.com"], ValueError),
        (["api.example.com:443"], ValueError),
        (["me@api.example.com"], ValueError),
        (["[::g]"], ValueError),
    ],
)
def test_what_is_no_list_of_hosts_is_refused(passthrough: str, kind: type[Exception]) -> None:
    """A text, an address or a port would open nothing, so it is a mistake."""
    with pytest.raises(kind, match="passthrough"):
        AllowedHosts(BASE, passthrough)


def test_addresses_can_be_opened_too() -> None:
    """An IPv6 address with or without brackets."""
    allowed = AllowedHosts(BASE, ["2001:db8::1", "[2001:db8::2]"])

    allowed.check("GET", "http://[2001:db8::1]/")
    allowed.check("GET", "http://[2001:db8::2]:80/")
    with pytest.raises(ForeignHost):
        allowed.check("GET", "http://[2001:db8::3]/")
