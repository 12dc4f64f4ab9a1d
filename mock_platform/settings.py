"""The settings of a server: one frozen value, made by the command line or in Python."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

_MEBIBYTE = 1024 * 1024
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})


NamesMode = Literal["neutral", "original"]
NAMES: tuple[NamesMode, ...] = ("neutral", "original")
WireForm = Literal["spec", "recorded"]
"""As documented, or as recorded."""


@dataclass(frozen=True, slots=True)
class WireChoice:
    """How answers are on the wire: their form, and each thing that was seen in more than one.

    `mock_platform.core.wire_choice` reads it from texts such as `recorded,missing=200`.

    Example:
        >>> WireChoice("recorded", missing="200").rules
        '200'
    """

    form: WireForm = "spec"
    rules: Literal["200", "201"] = "200"
    """The status of rules that were created."""
    missing: Literal["404", "200"] = "404"
    """The status of a single missing resource that is read; 200 has it in `errors` alone."""
    problems: Literal["problem+json", "json"] = "problem+json"
    """The media type of problems."""
    limit: Literal["code", "problem"] = "code"
    """What a used-up limit of `/2` answers: the flat error with code 88, or a problem."""
    unknown: Literal["ignored", "refused"] = "ignored"
    """What becomes of unknown parameters and keys of `/2`; what is ignored is a warning."""
    name: str = field(default="spec", compare=False)
    """How it is written."""


DOCUMENTED = WireChoice()
Durability = Literal["snapshot", "log", "fsync"]
"""What remains after a crash: `snapshot`, the last snapshot; `log`, every commit if the process was
killed; `fsync`, every commit even if the power failed.
"""


@dataclass(frozen=True, slots=True)
class DeliverySettings:
    """How webhook deliveries are sent.

    Example:
        >>> from mock_platform import DeliverySettings, Settings
        >>> Settings(delivery=DeliverySettings(attempts=1, timeout=2.0)).delivery.attempts
        1
    """

    timeout: float = 10.0
    """Seconds to wait for the answer of a receiver."""
    attempts: int = 3
    """Maximum number of attempts for one event; then the job is incomplete."""
    backoff: float = 0.2
    """Real seconds before the second attempt; doubled for each further one."""
    allow_hosts: tuple[str, ...] = ()
    """Hosts beside loopback that may receive deliveries: names or addresses; `*` for any."""
    workers: int = 8


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """Limits for clients of the server: sizes, real seconds, numbers of connections."""

    head_bytes: int = 64 * 1024
    """Bytes of request line and headers; more answers 414 or 431."""
    body_bytes: int = 32 * _MEBIBYTE
    """Bytes of one body; more answers 413."""
    waiting_bytes: int = 512 * _MEBIBYTE
    """Bytes of all unfinished bodies together; more answers 503."""
    head_seconds: float = 10.0
    """Seconds from the first byte to the end of the headers, and for a TLS handshake."""
    body_seconds: float = 300.0
    """Seconds from the end of the headers to the end of the body."""
    body_bytes_per_second: int = 1024
    """Bytes a second that a body must send on average, after the first `head_seconds`."""
    idle_seconds: float = 60.0
    """Seconds that a connection may wait for its next request."""
    write_seconds: float = 30.0
    """Seconds that a client may read nothing of an answer."""
    linger_seconds: float = 2.0
    """Seconds that a refused client that is still sending gets to read the refusal."""
    connections: int = 20_000
    """Number of connections; further ones get 503."""
    connections_per_address: int = 20_000
    """Number of connections from one address; further ones get 503."""
    http2: bool = False
    """Whether clients may speak HTTP/2: by TLS handshake, or by prior knowledge without TLS."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. Each field is an option of `mock-platform serve`.

    Example:
        >>> from mock_platform import MockPlatform, Settings
        >>> settings = Settings(strict=True, seed=7)
        >>> with MockPlatform.start(settings, names="original") as platform:
        ...     platform.session(auth="oauth1").get("/12/accounts").status_code
        200
    """

    host: str = "127.0.0.1"
    port: int = 8080
    fixtures: tuple[Path, ...] = ()
    """Folders added to the default fixtures; the last one wins."""
    default_fixtures: bool = True
    dataset: Literal["small", "social", "large"] = "social"
    """How much the default fixtures have: a business, its followers too, or thousands of users."""
    scenarios: tuple[str, ...] = ()
    """Names or files of scenarios that are active from the start and after each reset.

    Scenarios in folders become known.
    """
    store: str = "memory"
    durability: Durability = "log"
    lease: float = 2.0
    """Seconds after which another process takes over the worlds of one that has gone."""
    advertise: str | None = None
    """`HOST:PORT` at which the processes of other machines reach this one, to hand over requests
    for worlds on an engine. Further workers have the next ports. Only those of this machine unless
    set."""
    rest_after: float | None = None
    """Seconds without a request after which a world on an engine is put to rest; never unless set.
    """
    seed: int = 0
    freeze: datetime | None = None
    auth: Literal["strict", "off"] = "strict"
    ads_auth: Literal["any", "oauth1"] = "any"
    warnings: Literal["ignore", "error"] = "ignore"
    """Whether a request of which something would be ignored is answered, or refused with 400."""
    strict: bool = False
    markers: bool = True
    names: NamesMode | None = None
    """Which names answers have; with `original` both are taken on input. Unless set, `original` for
    requests to the platform's own hosts, else `neutral`."""
    wire: str | None = None
    """Whether answers are as documented or as they were recorded, where the two differ: `spec`,
    `recorded` or `recorded-2023`, and behind it what is in doubt, as in `recorded,missing=200`.
    Unless set, `recorded` for requests to the platform's own hosts, else `spec`."""
    as_of: datetime | None = None
    """The date of the contract: endpoints, fields, names of events and refusals are those that the
    release history had then. Unless set, `releases` decides."""
    limits: Literal["spec", "public", "off"] = "spec"
    prices: Path | None = None
    """A file of prices on top of the public ones, for what calls would have cost."""
    tiers: Literal["off", "on"] = "off"
    """Whether an app's `_tier` decides if it may call what is for enterprises only."""
    card_envelope: Literal["object", "array"] = "object"
    releases: Literal["clock", "all"] = "clock"
    """Whether endpoints exist only from their date in the release history on, or always."""
    webhook_envelope: Literal["flat", "data"] = "flat"
    """Form of the webhook that `POST /2/webhooks` answers with."""
    webhook_limit: int = 5
    """Webhooks of all apps of one owner."""
    subscription_limit: int = 1500
    """Activity subscriptions of one app."""
    campaign_limit: int | None = None
    """Campaigns of one ad account that have not ended; unlimited unless set."""
    line_item_limit: int | None = None
    """Active line items of one ad account; unlimited unless set."""
    line_items_per_campaign: int | None = None
    """Line items of one campaign; unlimited unless set."""
    stream_keepalive: float = 20.0
    """Real seconds of silence after which a stream sends a keep-alive; 0 for none."""
    stream_connections: int | None = None
    """Open connections of one app to each stream; as documented unless set."""
    stream_samples: Literal["all", "public"] = "all"
    """Whether streams of samples carry everything, or 1 % and 10 % as the public ones do."""
    stream_backlog: int = 10_000
    """Lines that may wait for a client that reads too slowly; with more it is disconnected."""
    fresh_tokens: bool = False
    """Whether each sign-in issues new tokens and invalidates the old ones of this user and app."""
    replay_minimum_age: bool = False
    require_https: bool = False
    oauth_tolerance: int = 300
    """Seconds by which an OAuth timestamp may differ from the machine's clock."""
    oauth_limit: int | None = None
    """Requests to each OAuth endpoint per app and 15 minutes; off unless set."""
    bearer_threshold: int | None = None
    """Bearer token requests per app and window; further ones get code 99; off unless set."""
    bearer_window: int = 60
    """Length of the window of `bearer_threshold` in seconds."""
    control_token: str | None = None
    public_hosts: tuple[str, ...] = ()
    """Other names, beside loopback, under which clients reach this server (a container's name)."""
    max_body: int = 16 * 1024 * 1024
    max_nesting: int = 64
    max_worlds: int = 1000
    journal_entries: int = 10_000
    journal_bytes: int = 64 * 1024 * 1024
    journal_total_bytes: int = 256 * 1024 * 1024
    """Maximum size of all journals together, in bytes."""
    delivery: DeliverySettings = field(default_factory=DeliverySettings)
    connection: ConnectionSettings = field(default_factory=ConnectionSettings)

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)

    def is_local(self, host: str) -> bool:
        """Whether clients may use this name for the server: loopback, or set in the settings."""
        return is_loopback(host) or host.lower() in self.public_hosts


def is_loopback(host: str) -> bool:
    """Whether a host name or address, without port, belongs to this machine only."""
    name = host.lower().rstrip(".")
    return (
        name in LOOPBACK_HOSTS
        or name.endswith(".localhost")
        or _LOOPBACK_V4.fullmatch(name) is not None
    )


_LOOPBACK_V4 = re.compile(r"127(?:\.\d{1,3}){3}", re.ASCII)
