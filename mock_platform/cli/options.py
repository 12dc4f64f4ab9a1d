"""Options: their types, those that several commands have, and one for each setting.

Each field of `Settings` is declared once, with its help and its limits. The environment variable of
an option is `MOCK_PLATFORM_<COMMAND>_<OPTION>`, so its parameter always has the name of the option.
If the field has another name, `Setting.field` is that name.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct

from mock_platform.core.wire_choice import read_wire
from mock_platform.settings import ConnectionSettings, DeliverySettings, Settings
from mock_platform.world.clock import DURATION_EXAMPLES, format_date, moment, parse_duration

if TYPE_CHECKING:
    from decimal import Decimal

_SECONDS = re.compile(r"\d{1,12}(?:\.\d{1,6})?", re.ASCII)
_USD = re.compile(r"\d{1,9}(?:\.\d{1,6})?", re.ASCII)
_LAST_PORT = 65_535
_SIZE = re.compile(r"(\d+)([KMG]?)i?B?", re.ASCII | re.IGNORECASE)
_POWERS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


class OptionKind(click.ParamType[Any], ABC):
    """A value with a converter that raises `ValueError`."""

    @abstractmethod
    def parse(self, text: str) -> Any:
        """Return the value of a text.

        Raises:
            ValueError: The text has no value; the message says what is allowed.
        """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value, or raise a usage error that names the option."""
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except ValueError as fault:
            self.fail(str(fault), param, ctx)


class InstantKind(OptionKind):
    """A moment in ISO 8601."""

    name = "instant"

    def parse(self, text: str) -> datetime:
        """Return the moment; without offset, it is UTC."""
        return moment(text)


class WireKind(OptionKind):
    """How answers are on the wire, and what is in doubt."""

    name = "wire"

    def parse(self, text: str) -> str:
        """Return the wire as answers name it."""
        return read_wire(text).name


class SecondsKind(OptionKind):
    """A duration: seconds, or a number with a unit; `whole` allows no fractions."""

    name = "duration"

    def __init__(self, *, whole: bool = False) -> None:
        self._whole = whole

    def parse(self, text: str) -> float | int:
        """Return the number of seconds."""
        plain = _SECONDS.fullmatch(text) is not None
        try:
            seconds = float(text) if plain else parse_duration(text)
        except ValueError as fault:
            raise ValueError(
                f"{text!r} is not a duration: write seconds (90, 1.5) or a unit "
                f"({DURATION_EXAMPLES})"
            ) from fault
        if self._whole:
            if seconds != int(seconds):
                raise ValueError(f"{text!r} is not a whole number of seconds")
            return int(seconds)
        return seconds


class SizeKind(OptionKind):
    """A number of bytes, at most `most`, with K, M or G for powers of 1024."""

    name = "size"

    def __init__(self, most: int | None = None) -> None:
        self._most = most

    def parse(self, text: str) -> int:
        """Return the number of bytes."""
        found = _SIZE.fullmatch(text)
        if found is None or int(found[1]) == 0:
            raise ValueError(f"{text!r} is not a size: write bytes, or 64K, 16M, 1G")
        size = int(found[1]) * _POWERS[found[2].upper()]
        if self._most is not None and size > self._most:
            raise ValueError(f"{text!r} is more than {self._most // 1024**2}M")
        return size


class UsdKind(OptionKind):
    """An amount of US dollars."""

    name = "amount"

    def parse(self, text: str) -> Decimal:
        """Return the amount, which is exact."""
        from decimal import Decimal  # few commands need it

        if _USD.fullmatch(text) is None:
            raise ValueError(f"{text!r} is not an amount of US dollars: write 0.5, 2 or 0.005")
        return Decimal(text)


class StoreKind(OptionKind):
    """The kind of store for the records."""

    name = "store"

    def parse(self, text: str) -> str:
        """Return the setting, if it names a store."""
        from mock_platform.world.store.backends import BadStore, find_backend

        try:
            find_backend(text)
        except BadStore as fault:
            raise ValueError(str(fault)) from fault
        return text

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return a description of the allowed values."""
        from mock_platform.world.store.backends import BACKENDS

        return "|".join(BACKENDS)


def split_address(text: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT`; the host of IPv6 is in brackets.

    Raises:
        ValueError: It is something else, or not the address of one machine.
    """
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) <= _LAST_PORT:
        raise ValueError(f"{text!r} is not HOST:PORT, for instance 10.0.0.5:8081")
    if host in {"0.0.0.0", "::"}:  # noqa: S104 - it is refused
        raise ValueError(f"{host} is no address that others can reach; name one of this machine")
    return host, int(port)


class AddressKind(OptionKind):
    """The address of a process, for others."""

    name = "address"

    def parse(self, text: str) -> str:
        """Return the address as it was given."""
        split_address(text)
        return text


ADDRESS = AddressKind()
INSTANT = InstantKind()
WIRE = WireKind()


class DatesKind(OptionKind):
    """Dates of a contract, separated by commas."""

    name = "dates"

    def parse(self, text: str) -> tuple[datetime, ...]:
        """Return the moments, each once, in the order in which they were given."""
        dates = tuple(INSTANT.parse(part.strip()) for part in text.split(","))
        twice = next((format_date(each) for each in dates if dates.count(each) > 1), None)
        if twice is not None:
            raise ValueError(f"{twice} is there twice")
        return dates


DATES = DatesKind()
SECONDS = SecondsKind()
WHOLE_SECONDS = SecondsKind(whole=True)
SIZE = SizeKind()
BODY_SIZE = SizeKind(32 * 1024**2)
"""Maximum size of a request body that the server can read."""
STORE = StoreKind()
USD = UsdKind()


Command = TypeVar("Command", bound=Callable[..., Any])


def make_format_option(
    *kinds: str, default: str = "text", help: str = "Format of the output."
) -> Callable[[Command], Command]:
    """Return the option that chooses one of these formats."""
    return click.option(
        "--format", type=click.Choice(kinds), default=default, show_default=True, help=help,
    )  # fmt: skip


def make_out_option(help: str, *, required: bool = False) -> Callable[[Command], Command]:
    """Return the option that names the file to write."""
    return click.option(
        "--out", required=required, type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE", help=help,
    )  # fmt: skip


def make_force_option(help: str) -> Callable[[Command], Command]:
    """Return the option that allows to replace what exists."""
    return click.option("--force/--no-force", help=help)


def make_ca_option(
    help: str = "Certificate authority to trust, if the server has its own.",
) -> Callable[[Command], Command]:
    """Return the option that names a file with a certificate authority."""
    return click.option(
        "--ca", type=click.Path(path_type=Path, dir_okay=False, exists=True), metavar="FILE",
        help=help,
    )  # fmt: skip


def make_names_option(help: str) -> Callable[[Command], Command]:
    """Return the option that says which names another server, or a recording, has."""
    return click.option(
        "--names", type=click.Choice(["auto", "neutral", "original"]), default="auto",
        show_default=True, help=help,
    )  # fmt: skip


def make_only_option(name: str) -> Callable[[Command], Command]:
    """Return the option of this name that chooses operations."""
    return click.option(
        name, metavar="PATTERNS",
        help="Only operations whose ids match one of these patterns, such as "
             "'line_items.*,oauth*'.",
    )  # fmt: skip


def condition_options(prefix: str) -> Callable[[Command], Command]:
    """Return what adds the three conditions to a command; their names begin with `prefix`."""
    options = (
        click.option(
            f"{prefix}fail-under", type=click.FloatRange(0, 100), metavar="N",
            help="Exit with status 1 if less than N percent are covered.",
        ),
        make_only_option(f"{prefix}only"),
        click.option(
            f"{prefix}baseline", type=click.Path(path_type=Path), metavar="FILE",
            help="Exit with status 1 if an outcome that this file names, and an earlier run "
                 "covered, is lost.",
        ),
    )  # fmt: skip

    def decorate(command: Command) -> Command:
        for add in reversed(options):
            command = add(command)
        return command

    return decorate


_DEFAULTS = Settings()
_COUNT = click.IntRange(min=1)


class Setting(Struct, frozen=True):
    """An option and the field that it sets. A flag `--no-x` sets `x` to its opposite."""

    name: str
    help: str
    kind: Any = None
    field: str = ""
    many: bool = False
    flag: bool = False
    metavar: str | None = None
    plain_default: str | None = None
    """The default in the help text, if the value itself would not be clear."""

    @property
    def parameter(self) -> str:
        """The name of click's parameter and of the environment variable."""
        return self.name.replace("-", "_")

    @property
    def target(self) -> str:
        """The field; `delivery.x` for one of `DeliverySettings`, and `connection.x` likewise."""
        return self.field or self.parameter.removeprefix("no_")

    @property
    def is_inverted(self) -> bool:
        """Whether the flag turns something off."""
        return self.flag and self.name.startswith("no-")

    def default(self) -> Any:
        """Return the field's default, in the form of the option."""
        group, _, name = self.target.rpartition(".")
        value = getattr(getattr(_DEFAULTS, group) if group else _DEFAULTS, name)
        return not value if self.is_inverted else value

    def option(self) -> Callable[[Command], Command]:
        """Return the option for a click command."""
        if self.flag:
            opposite = self.name.removeprefix("no-") if self.is_inverted else f"no-{self.name}"
            return click.option(
                f"--{self.name}/--{opposite}", self.parameter, default=self.default(),
                show_default=False, help=self.help,
            )  # fmt: skip
        shown: Any = self.plain_default if self.plain_default is not None else not self.many
        return click.option(
            f"--{self.name}", self.parameter, type=self.kind, multiple=self.many,
            default=self.default(), show_default=shown, metavar=self.metavar, help=self.help,
        )  # fmt: skip


_FOLDER = click.Path(path_type=Path)

SETTINGS: tuple[Setting, ...] = (
    Setting("host", "Address to listen on. On any address except loopback the control plane needs "
                    "a token."),
    Setting("port", "Port to listen on; 0 chooses a free one.", click.IntRange(0, 65535)),
    Setting(
        "public-host",
        "Another name under which clients reach this server, such as the name of a container. "
        "Repeatable.",
        field="public_hosts", many=True, metavar="NAME",
    ),
    Setting("fixtures", "Folder of fixture files, added to the default ones and to those named "
                        "before. Repeatable.", _FOLDER, many=True, metavar="DIR"),
    Setting("no-default-fixtures", "Start without the default fixtures.", flag=True),
    Setting("dataset", "How much the default fixtures have: a small business, also its followers "
                       "with their posts and lists, or thousands of them.",
            click.Choice(["small", "social", "large"])),
    Setting("scenario", "Name or file of a scenario that is active from the start and after each "
                        "reset, or a folder whose scenarios become known. Repeatable.",
            field="scenarios", many=True, metavar="NAME|FILE|FOLDER"),
    Setting("store", "Where worlds are kept: in memory, in a TinyDB file, or on a Redis server.",
            STORE),
    Setting(
        "durability",
        "What the store's file contains after a crash: the last snapshot, every write unless the "
        "machine fails (log), every write (fsync).",
        click.Choice(["snapshot", "log", "fsync"]),
    ),
    Setting("lease", "Time after which another process takes over the worlds of one that is gone; "
                     "for a store that processes share.", SECONDS),
    Setting("advertise", "Address at which the processes of other machines reach this one, to hand "
                         "over requests for worlds of a store that processes share.", ADDRESS,
            plain_default="those of this machine reach it", metavar="HOST:PORT"),
    Setting("rest-after", "Time without a request after which a world of a store that processes "
                          "share is put to rest.", SECONDS),
    Setting("seed", "Seed for ids and tokens: the same seed draws the same ones.", int),
    Setting("freeze", "Stop the clocks of the worlds at this moment.", INSTANT,
            plain_default="the clock runs"),
    Setting("auth", "Whether credentials are checked; off accepts any.",
            click.Choice(["strict", "off"])),
    Setting("ads-auth", "Credentials of the advertising interface: OAuth 1.0a and bearer tokens, "
                        "or only OAuth 1.0a.", click.Choice(["any", "oauth1"])),
    Setting("warnings", "Answer a request of which something is ignored, such as an unknown "
                        "parameter, or refuse it with 400.", click.Choice(["ignore", "error"])),
    Setting("strict", "Refuse with 501 what the specification does not show.", flag=True),
    Setting("names", "Names of the answers: neutral, or the original ones of the platform; with "
                     "original both are taken.", click.Choice(["neutral", "original"]),
            plain_default="original for the platform's own hosts, else neutral"),
    Setting("wire", "Answers as documented (spec), or as the real service was recorded where that "
                    "differs: now, or until 2023. What is in doubt can be chosen behind it: "
                    "recorded,missing=200.", WIRE, metavar="WIRE",
            plain_default="recorded for the platform's own hosts, else spec"),
    Setting("as-of", "Answer with the endpoints, fields, names of events and refusals that the "
                     "release history had at this date, whatever the clock says.", INSTANT,
            plain_default="--releases decides", metavar="DATE"),
    Setting("no-markers", "Leave the X-Mock-… headers out of the answers.", flag=True),
    Setting("limits", "Rate limits to enforce: those of the specification, also those that only "
                      "the public interface names, or none.",
            click.Choice(["spec", "public", "off"])),
    Setting("prices", "File of prices on top of the public ones, for what calls would have cost.",
            click.Path(path_type=Path), metavar="FILE", plain_default="the public ones"),
    Setting("tiers", "Whether apps of a lower _tier are refused what the platform keeps for "
                     "enterprises.", click.Choice(["off", "on"])),
    Setting("card-envelope", "Form of a single card in the data of an answer: the object, or an "
                             "array with it.", click.Choice(["object", "array"])),
    Setting("releases", "Whether endpoints, fields and types of events exist from their dates in "
            "the release history on, by the world's clock, or always.",
            click.Choice(["clock", "all"])),
    Setting("webhook-envelope", "Form of the webhook that POST /2/webhooks answers with: the flat "
            "record, or under data.", click.Choice(["flat", "data"])),
    Setting("webhook-limit", "How many webhooks the apps of one owner may have.", _COUNT),
    Setting("subscription-limit", "How many activity subscriptions an app may have.", _COUNT),
    Setting("campaign-limit", "How many campaigns an ad account may have that have not ended.",
            _COUNT),
    Setting("line-item-limit", "How many active line items an ad account may have.", _COUNT),
    Setting("line-items-per-campaign", "How many line items a campaign may have.", _COUNT),
    Setting("stream-keepalive", "Silence after which a stream sends a keep-alive, in real time; 0 "
                                "for none.", SECONDS),
    Setting("stream-connections", "Connections of one app to each stream.", _COUNT,
            plain_default="as documented"),
    Setting("stream-samples", "Whether streams of samples carry everything, or 1 % and 10 %.",
            click.Choice(["all", "public"])),
    Setting("stream-backlog", "How many activities may wait for a stream whose client reads too "
                              "slowly; with more it is disconnected.", _COUNT),
    Setting("fresh-tokens", "Issue a new access token at each sign-in and invalidate the old one "
                            "of this user and app.", flag=True),
    Setting("replay-minimum-age", "Refuse replay windows that are younger than the retired path "
                                  "allowed (31 and 10 minutes).", flag=True),
    Setting("require-https", "Refuse the OAuth steps over plain http.", flag=True),
    Setting("oauth-tolerance", "How far an OAuth timestamp may differ from the machine's clock, in "
                               "both directions.", WHOLE_SECONDS),
    Setting("oauth-limit", "Requests to each OAuth endpoint per app in 15 minutes.", _COUNT,
            plain_default="unlimited"),
    Setting("bearer-threshold", "Bearer token requests per app and --bearer-window; further "
                                "requests get code 99.", _COUNT, plain_default="unlimited"),
    Setting("bearer-window", "Length of the window of --bearer-threshold.", WHOLE_SECONDS),
    Setting("control-token", "Token that users of the control plane must send; if one is needed "
                             "and not set, the server makes and prints "
                             "one.", metavar="TOKEN", plain_default="none"),
    Setting("max-body", "Maximum size of a request body, up to 32M.", BODY_SIZE,
            plain_default="16M"),
    Setting("max-nesting", "Maximum nesting of a JSON body.", _COUNT),
    Setting("max-worlds", "Maximum number of worlds.", _COUNT),
    Setting("journal-entries", "Maximum number of requests in each world's journal.",
            click.IntRange(min=0)),
    Setting("journal-bytes", "Maximum size of each world's journal.", SIZE, plain_default="64M"),
    Setting("journal-total-bytes", "Maximum size of all journals together; beyond it the largest "
                                   "journal drops its oldest requests.",
            SIZE, plain_default="256M"),
    Setting("delivery-timeout", "How long to wait for the answer of a webhook receiver.", SECONDS,
            field="delivery.timeout"),
    Setting("delivery-attempts", "Maximum number of attempts to deliver an event.", _COUNT,
            field="delivery.attempts"),
    Setting("delivery-backoff", "Wait before the second attempt; it doubles for each further one.",
            SECONDS, field="delivery.backoff"),
    Setting("delivery-allow-host", "Another host, beside loopback, that may receive webhook "
                                   "deliveries; '*' allows any. Repeatable.",
            field="delivery.allow_hosts", many=True, metavar="HOST"),
    Setting("delivery-workers", "Maximum number of deliveries at the same time.", _COUNT,
            field="delivery.workers"),
    Setting("max-connections", "Maximum number of connections; further ones get 503.", _COUNT,
            field="connection.connections"),
    Setting("max-connections-per-address", "Maximum number of connections from one address.",
            _COUNT, field="connection.connections_per_address"),
    Setting("head-timeout", "Time limit for the headers of a request, and for a TLS handshake.",
            SECONDS, field="connection.head_seconds"),
    Setting("body-timeout", "Time limit for the body of a request.", SECONDS,
            field="connection.body_seconds"),
    Setting("body-rate", "Bytes a second that a body must send on average, after the time of "
                         "--head-timeout.", SIZE,
            field="connection.body_bytes_per_second", plain_default="1K"),
    Setting("idle-timeout", "How long a connection may wait for its next request.", SECONDS,
            field="connection.idle_seconds"),
    Setting("http2", "Speak HTTP/2 as well, with clients that ask for it in the TLS handshake, or "
                     "begin with it on a port without TLS.", flag=True, field="connection.http2"),
    Setting("write-timeout", "How long a client may read nothing of its answer.", SECONDS,
            field="connection.write_seconds"),
)  # fmt: skip


def settings_options(*, without: frozenset[str] = frozenset()) -> Callable[[Command], Command]:
    """Add an option to a command for each setting, except for the named ones."""

    def decorate(command: Command) -> Command:
        for setting in reversed(SETTINGS):
            if setting.name not in without:
                command = setting.option()(command)
        return command

    return decorate


def settings_of(values: Mapping[str, Any]) -> Settings:
    """Return the settings from a command's parameters; absent ones keep their default.

    Raises:
        click.UsageError: Some do not belong together.
    """
    if values.get("as_of") is not None and values.get("releases") == "all":
        raise click.UsageError(
            "--releases all has every release, and --as-of those up to a date: choose one."
        )
    groups: dict[str, dict[str, Any]] = {"": {}, "delivery": {}, "connection": {}}
    for setting in SETTINGS:
        if setting.parameter not in values:
            continue
        value = values[setting.parameter]
        if setting.is_inverted:
            value = not value
        if setting.many:
            value = tuple(value)
        group, _, name = setting.target.rpartition(".")
        groups[group][name] = value
    return Settings(
        **groups[""],
        delivery=DeliverySettings(**groups["delivery"]),
        connection=ConnectionSettings(**groups["connection"]),
    )
