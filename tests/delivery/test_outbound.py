from __future__ import annotations

import base64
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import trustme

from mock_platform.control.guard import COOKIE
from mock_platform.control.mistakes import TOKEN_HEADER
from mock_platform.delivery.deadline import PlainDeadlineSocket
from mock_platform.delivery.outbound import MAX_ANSWER_BYTES, Outbound, OutboundFault
from mock_platform.delivery.upstream import OF_CONSOLE, OF_SERVER, leave_out_own
from mock_platform.world.clock import UPTIME
from tests.support_receiver import (
    Misbehaviour,
    Receiver,
    close,
    drip,
    garbage,
    hang,
    redirect,
    reset,
    truncate,
    unused_port,
)
from tests.waits import PATIENCE

Address = tuple[Any, ...]
_REAL_LOOKUP = socket.getaddrinfo


class Names:
    """A name service of our own: each lookup of a name returns the next of its addresses."""

    def __init__(self) -> None:
        self.addresses: dict[str, list[list[str]]] = {}
        self.asked: list[str] = []

    def __call__(self, host: str, port: int, *args: Any, **kwargs: Any) -> list[Address]:
        """Replace `socket.getaddrinfo`."""
        if host not in self.addresses:
            return list(_REAL_LOOKUP(host, port, *args, **kwargs))
        self.asked.append(host)
        found = self.addresses[host]
        answer = found.pop(0) if len(found) > 1 else found[0]
        return [_entry(address, port) for address in answer]


def _entry(address: str, port: int) -> Address:
    if ":" in address:
        return (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))
    return (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """What names mean in this test."""
    service = Names()
    monkeypatch.setattr(socket, "getaddrinfo", service)
    return service


@pytest.fixture
def no_way_out(monkeypatch: pytest.MonkeyPatch) -> list[Address]:
    """Addresses that the test tried to connect to; only loopback is let through."""
    reached: list[Address] = []
    connect, own = socket.socket.connect, threading.get_ident()

    def watched(sock: socket.socket, address: Address) -> None:
        if threading.get_ident() == own:  # sandboxes of other tests may still deliver
            reached.append(address)
        if not str(address[0]).startswith("127."):
            raise ConnectionRefusedError(111, "Connection refused")
        connect(sock, address)

    monkeypatch.setattr(PlainDeadlineSocket, "connect", watched)
    return reached


def fault_of(send: Callable[[], object]) -> OutboundFault:
    """The fault that sending raises."""
    with pytest.raises(OutboundFault) as caught:
        send()
    return caught.value


def test_a_post_arrives_as_it_was_sent(receiver: Receiver) -> None:
    """Body, headers and the query reach the receiver; the answer's status comes back."""
    receiver.plan.append(204)

    answer = Outbound().send("POST", f"{receiver.url}?a=b%20c", {"X-One": "1"}, b'{"a":1}')

    assert (204, b"") == (answer.status, answer.body)
    assert ("/webhook?a=b%20c", "1", b'{"a":1}') == (
        receiver.received[0].path,
        receiver.received[0].headers["x-one"],
        receiver.received[0].body,
    )


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_answer_and_is_not_followed(receiver: Receiver, status: int) -> None:
    """The platform goes nowhere that a receiver sends it."""
    with Receiver() as elsewhere:
        receiver.plan.append(redirect(elsewhere.url, status))

        assert status == Outbound().send("POST", receiver.url, {}, b"{}").status
        assert [] == elsewhere.received
        assert [] == elsewhere.challenges


def test_proxies_of_the_environment_are_ignored(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However a proxy is named in the environment, the receiver is called directly."""
    proxy = f"http://127.0.0.1:{unused_port()}"
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)

    assert 200 == Outbound().send("POST", receiver.url, {}, b"{}").status


def test_a_name_that_leads_elsewhere_is_refused(names: Names, no_way_out: list[Address]) -> None:
    """A host whose only address is not this machine's is not connected to."""
    names.addresses["hook.example"] = [["10.0.0.1", "10.0.0.1", "fd00::1"]]

    fault = fault_of(lambda: Outbound().send("POST", "http://hook.example/", {}, b"{}"))

    assert "address" == fault.kind
    assert str(fault).startswith("hook.example is at 10.0.0.1, fd00::1, which is not this machine")
    assert "--delivery-allow-host" in str(fault)
    assert [] == no_way_out


@pytest.mark.parametrize(
    "address",
    ["10.0.0.1", "169.254.169.254", "0.0.0.0", "192.168.1.1", "128.0.0.1", "126.255.255.255",
     "[::]", "[::2]", "[::ffff:10.0.0.1]", "[fe80::1]", "[2001:db8::1]"],
)  # fmt: skip
def test_an_address_that_is_not_loopback_is_refused(
    address: str, no_way_out: list[Address]
) -> None:
    """Literal addresses are checked by the same rule, mapped ones included."""
    fault = fault_of(lambda: Outbound().send("POST", f"http://{address}:8080/", {}, b"{}"))

    assert "address" == fault.kind
    assert [] == no_way_out


def test_a_name_that_changes_its_mind_gains_nothing(
    names: Names, receiver: Receiver, no_way_out: list[Address]
) -> None:
    """A name is looked up once, and the address that was checked is the one connected to."""
    names.addresses["rebind.example"] = [["127.0.0.1"], ["10.0.0.1"]]
    outbound = Outbound()
    url = f"http://rebind.example:{receiver.port}/"

    assert 200 == outbound.send("POST", url, {}, b"{}").status
    assert ["rebind.example"] == names.asked
    assert [("127.0.0.1", receiver.port)] == no_way_out
    assert "address" == fault_of(lambda: outbound.send("POST", url, {}, b"{}")).kind
    assert [("127.0.0.1", receiver.port)] == no_way_out


def test_of_several_addresses_only_the_allowed_ones_are_tried(
    names: Names, receiver: Receiver, no_way_out: list[Address]
) -> None:
    """A name with a foreign address and a loopback one is called at the loopback one."""
    names.addresses["both.example"] = [["10.0.0.1", "127.0.0.1"]]

    url = f"http://both.example:{receiver.port}/"

    assert 200 == Outbound().send("POST", url, {}, b"{}").status
    assert [("127.0.0.1", receiver.port)] == no_way_out


@pytest.mark.parametrize(("url", "allowed"), [
    ("http://hook.example/", ("HOOK.example",)),
    ("http://hook.example/", ("10.0.0.1",)),
    ("http://hook.example./", ("hook.example",)),
    ("http://10.0.0.1/", ("10.0.0.1",)),
    ("http://10.0.0.1/", ("*",)),
])  # fmt: skip
def test_allowed_hosts_may_be_anywhere(
    url: str, allowed: tuple[str, ...], names: Names, no_way_out: list[Address]
) -> None:
    """A name, an address or `*` among the allowed hosts lets the connection through."""
    names.addresses |= {"hook.example": [["10.0.0.1"]], "hook.example.": [["10.0.0.1"]]}

    fault = fault_of(lambda: Outbound(allow_hosts=allowed).send("POST", url, {}, b"{}"))

    assert "connection" == fault.kind
    assert [("10.0.0.1", 80)] == no_way_out


def test_another_allowed_host_allows_no_others(names: Names, no_way_out: list[Address]) -> None:
    """Allowing one name says nothing about its neighbours."""
    names.addresses["hook.example"] = [["10.0.0.1"]]
    outbound = Outbound(allow_hosts=("example", "hook.example.org", "10.0.0.2"))

    fault = fault_of(lambda: outbound.send("POST", "http://hook.example/", {}, b"{}"))

    assert "address" == fault.kind
    assert [] == no_way_out


def test_a_name_without_an_address_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lookup that fails is a fault, not a crash."""

    def unknown(*_args: Any, **_kwargs: Any) -> list[Address]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    fault = fault_of(lambda: Outbound().send("POST", "http://nowhere.example/", {}, b"{}"))

    assert ("name", "nowhere.example has no address: [Errno -2] Name or service not known") == (
        fault.kind,
        str(fault),
    )


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "/hook", "http://", "http://[", "", "http:x"])
def test_other_addresses_are_refused(url: str) -> None:
    """Only http and https addresses with a host are called."""
    assert "address" == fault_of(lambda: Outbound().send("POST", url, {}, b"{}")).kind


def test_a_line_break_cannot_leave_its_place(receiver: Receiver) -> None:
    """A header value with a line break is refused before anything is sent."""
    fault = fault_of(lambda: Outbound().send("POST", receiver.url, {"A": "b\r\nC: d"}, b"{}"))

    assert "connection" == fault.kind
    assert [] == receiver.received


def test_where_nothing_listens_is_told() -> None:
    """A refused connection says so."""
    port = unused_port()

    fault = fault_of(lambda: Outbound().send("POST", f"http://127.0.0.1:{port}/", {}, b"{}"))

    assert ("connection", f"nothing listens at 127.0.0.1:{port}") == (fault.kind, str(fault))


@pytest.mark.parametrize(("misbehaviour", "text"), [
    (close, "closed the connection without an answer"),
    (reset, "closed the connection without an answer"),
    (truncate, "broke off"),
    (garbage, "sent no usable answer"),
])  # fmt: skip
def test_a_broken_answer_is_told_apart(
    receiver: Receiver, misbehaviour: Misbehaviour, text: str
) -> None:
    """A connection that ends, or an invalid answer, is a fault of the connection."""
    receiver.plan.append(misbehaviour)

    fault = fault_of(lambda: Outbound().send("POST", receiver.url, {}, b"{}"))

    assert "connection" == fault.kind
    assert text in str(fault)


@pytest.mark.parametrize("misbehaviour", [
    hang,
    drip(b"HTTP/1.1 200 OK\r\nX-Long: "),
    drip(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"),
    drip(b"HTTP/1.1 2"),
], ids=["silence", "header", "body", "status"])  # fmt: skip
def test_the_time_is_for_the_whole_answer(receiver: Receiver, misbehaviour: Misbehaviour) -> None:
    """However an answer drips, it is ended when its time is over, not later."""
    receiver.plan.append(misbehaviour)
    started = UPTIME()

    fault = fault_of(lambda: Outbound(timeout=0.2).send("POST", receiver.url, {}, b"{}"))

    assert "timeout" == fault.kind
    assert str(fault).endswith("sent no complete answer within 0.2 seconds")
    assert 0.2 <= UPTIME() - started < PATIENCE


def test_a_connection_that_is_not_accepted_ends_in_time() -> None:
    """A listener whose queue is full costs the time that a request has."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        started = UPTIME()
        kinds = {
            fault_of(
                lambda: Outbound(timeout=0.2).send("POST", f"http://127.0.0.1:{port}/", {}, b"")
            ).kind
            for _ in range(3)
        }

    assert {"timeout"} == kinds
    assert UPTIME() - started < PATIENCE


def test_only_the_beginning_of_an_answer_is_read(receiver: Receiver) -> None:
    """A long body is read up to its bound; the rest is left."""
    receiver.challenge = lambda _token: (200, b"x" * (MAX_ANSWER_BYTES + 5))

    answer = Outbound().send("GET", f"{receiver.url}?crc_token=t")

    assert MAX_ANSWER_BYTES == len(answer.body)


def test_a_stop_breaks_off_what_is_under_way(receiver: Receiver) -> None:
    """A request that waits for an answer ends at once, as stopped; later ones are not sent."""
    receiver.plan.append(hang)
    outbound, faults = Outbound(timeout=10 * PATIENCE), list[OutboundFault]()
    thread = threading.Thread(
        target=lambda: faults.append(
            fault_of(lambda: outbound.send("POST", receiver.url, {}, b"{}"))
        )
    )
    thread.start()
    receiver.wait_until(lambda found: len(found.received) == 1)

    outbound.stop()
    thread.join(PATIENCE)

    assert ["stopped"] == [fault.kind for fault in faults]
    assert "stopped" == fault_of(lambda: outbound.send("POST", receiver.url, {}, b"{}")).kind
    assert 1 == len(receiver.received)


class TestTLS:
    """Receivers over https."""

    @pytest.fixture
    def authority(self) -> trustme.CA:
        """Who vouches for the receiver."""
        return trustme.CA()

    @pytest.fixture
    def secure(self, authority: trustme.CA) -> Iterator[Receiver]:
        """A receiver over TLS."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        with Receiver(tls=context) as found:
            yield found

    def test_a_trusted_receiver_is_called(
        self, secure: Receiver, authority: trustme.CA, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """SSL_CERT_FILE names the authority of a receiver's certificate."""
        with authority.cert_pem.tempfile() as file:
            monkeypatch.setenv("SSL_CERT_FILE", file)

            assert 200 == Outbound().send("POST", secure.url, {}, b"{}").status

    def test_an_untrusted_receiver_is_not(self, secure: Receiver) -> None:
        """An untrusted certificate ends the request before anything is sent."""
        fault = fault_of(lambda: Outbound().send("POST", secure.url, {}, b"{}"))

        assert "tls" == fault.kind
        assert "the authority that signed it is unknown on this machine" in str(fault)
        assert [] == secure.received

    def test_a_certificate_for_another_name(
        self, authority: trustme.CA, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A fault says that the certificate is for another name, though its authority is known."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("elsewhere.example").configure_cert(context)
        with Receiver(tls=context) as other, authority.cert_pem.tempfile() as file:
            monkeypatch.setenv("SSL_CERT_FILE", file)

            fault = fault_of(lambda: Outbound().send("POST", other.url, {}, b"{}"))

        assert "tls" == fault.kind
        assert "is not trusted: it is for another name" in str(fault)

    def test_the_time_holds_over_tls(
        self, secure: Receiver, authority: trustme.CA, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A dripping answer is ended over TLS as well."""
        secure.plan.append(drip(b"HTTP/1.1 200 OK\r\nX-Long: "))
        with authority.cert_pem.tempfile() as file:
            monkeypatch.setenv("SSL_CERT_FILE", file)

            fault = fault_of(lambda: Outbound(timeout=0.3).send("POST", secure.url, {}, b"{}"))

        assert "timeout" == fault.kind


TOKEN = "s3cret"
BASIC = base64.b64encode(f"me:{TOKEN}".encode()).decode()
OTHER_BASIC = base64.b64encode(b"key:other").decode()


@pytest.mark.parametrize(("sent", "kept"), [
    ((TOKEN_HEADER, TOKEN), None),
    (("Authorization", f"Bearer {TOKEN}"), None),
    (("authorization", f"Basic {BASIC}"), None),
    (("Authorization", "Bearer other"), "Bearer other"),
    (("Authorization", f"Basic {OTHER_BASIC}"), f"Basic {OTHER_BASIC}"),
    (("Authorization", "Basic %"), "Basic %"),
    (("Cookie", f"{COOKIE}=a"), None),
    (("Cookie", f"a=1; {COOKIE}_8080=b; c=2"), "a=1; c=2"),
    (("Cookie", "mock_platform_said=b;d=3"), "d=3"),
    (("Cookie", f"a={COOKIE}"), f"a={COOKIE}"),
    (("Accept", "a/b"), "a/b"),
])  # fmt: skip
@pytest.mark.parametrize("names", [OF_SERVER, OF_CONSOLE])
def test_what_opens_the_console_is_left_out(
    sent: tuple[str, str], kept: str | None, names: str | tuple[str, ...]
) -> None:
    """The control token in each place, and the console's cookies; nothing else is changed."""
    expected = [] if kept is None else [(sent[0], kept)]

    assert expected == leave_out_own([sent], names, TOKEN)


def test_a_login_of_the_sandbox_is_left_out_where_the_sandbox_answers() -> None:
    """`record` passes it on: the other server may be a sandbox, which made it."""
    sent = ("Cookie", "mock_platform_session_default=a")

    assert ([], [sent]) == (leave_out_own([sent], OF_SERVER), leave_out_own([sent], OF_CONSOLE))
