"""What a server is started with: one frozen value, fed by the command line or by Python."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})


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
    durability: Literal["snapshot", "log", "fsync"] = "log"
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
