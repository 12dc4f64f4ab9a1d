"""What a server is started with: one frozen value, fed by the command line or by Python."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

_MEBIBYTE = 1024 * 1024
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})


Durability = Literal["snapshot", "log", "fsync"]
"""What is there after a stop without warning: `snapshot`, the last snapshot; `log`, every commit if
the process was killed; `fsync`, every commit also if the power was lost."""


@dataclass(frozen=True, slots=True)
class DeliverySettings:
    """How webhook deliveries are sent."""

    timeout: float = 10.0
    """Seconds a receiver has to answer (public facts, section 6)."""
    attempts: int = 3
    """How often one event is tried before the job is incomplete."""
    backoff: float = 0.2
    """Real seconds before the second attempt; doubled for each further one."""
    allow_hosts: tuple[str, ...] = ()
    """Hosts beyond loopback that may be delivered to: names or addresses; `*` for any."""
    workers: int = 8


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """What clients may ask of the server: sizes, real seconds, numbers of connections."""

    head_bytes: int = 64 * 1024
    """Bytes of request line and headers; more answers 414 or 431."""
    body_bytes: int = 32 * _MEBIBYTE
    """Bytes of one body; more answers 413."""
    waiting_bytes: int = 512 * _MEBIBYTE
    """Bytes of all bodies that have not come in whole; more answers 503."""
    head_seconds: float = 10.0
    """From the first byte of a request to the end of its headers, and for a TLS handshake."""
    body_seconds: float = 300.0
    """From the end of the headers to the end of the body."""
    body_bytes_per_second: int = 1024
    """Bytes a second that a body must bring on average, after the first `head_seconds`."""
    idle_seconds: float = 60.0
    """How long a connection may wait for its next request."""
    write_seconds: float = 30.0
    """How long a client may take nothing of an answer that waits for it."""
    linger_seconds: float = 2.0
    """How long a refused client that still sends may take to read why."""
    connections: int = 20_000
    """Connections in all; one more answers 503."""
    connections_per_address: int = 20_000
    """Connections from one address; one more answers 503."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. Each field is an option of `mock-platform serve`."""

    host: str = "127.0.0.1"
    port: int = 8080
    fixtures: tuple[Path, ...] = ()
    """Folders laid over the shipped fixtures, the last one on top."""
    default_fixtures: bool = True
    scenarios: tuple[str, ...] = ()
    """Names or files of scenarios that are active from the start and after each reset, or folders
    of files that are known by name from the start."""
    store: str = "memory"
    durability: Durability = "log"
    seed: int = 0
    freeze: datetime | None = None
    auth: Literal["strict", "off"] = "strict"
    ads_auth: Literal["any", "oauth1"] = "any"
    strict: bool = False
    markers: bool = True
    limits: Literal["spec", "public", "off"] = "spec"
    card_envelope: Literal["object", "array"] = "object"
    fresh_tokens: bool = False
    """Whether each sign-in issues a new pair and invalidates the one that user and app held."""
    replay_minimum_age: bool = False
    require_https: bool = False
    oauth_tolerance: int = 300
    """Seconds that an OAuth timestamp may lie off the machine's clock, either way."""
    oauth_limit: int | None = None
    """Requests to each OAuth endpoint per app and 15 minutes; off unless set."""
    bearer_threshold: int | None = None
    """Bearer token creations per app and window beyond which code 99 answers; off unless set."""
    bearer_window: int = 60
    """Seconds of the window of `bearer_threshold`."""
    control_token: str | None = None
    public_hosts: tuple[str, ...] = ()
    """Names beyond loopback under which clients reach this server (a container's name)."""
    max_body: int = 16 * 1024 * 1024
    max_nesting: int = 64
    max_worlds: int = 1000
    journal_entries: int = 10_000
    journal_bytes: int = 64 * 1024 * 1024
    journal_total_bytes: int = 256 * 1024 * 1024
    """What the journals of all worlds keep together."""
    delivery: DeliverySettings = field(default_factory=DeliverySettings)
    connection: ConnectionSettings = field(default_factory=ConnectionSettings)

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)

    def is_local(self, host: str) -> bool:
        """Whether a name under which the server was called is loopback or declared as its own."""
        return is_loopback(host) or host.lower() in self.public_hosts


def is_loopback(host: str) -> bool:
    """Whether a host name or address, without port, is this machine's own."""
    name = host.lower().rstrip(".")
    return (
        name in LOOPBACK_HOSTS
        or name.endswith(".localhost")
        or _LOOPBACK_V4.fullmatch(name) is not None
    )


_LOOPBACK_V4 = re.compile(r"127(?:\.\d{1,3}){3}", re.ASCII)
