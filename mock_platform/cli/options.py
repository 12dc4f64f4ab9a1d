"""The settings as options: each field of `Settings` once, with its help and its limits.

An option's environment twin is `MOCK_PLATFORM_<COMMAND>_<OPTION>`, so its parameter is always
called as the option is; where a field has another name, `Setting.field` says it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from mock_platform.cli.kinds import BODY_SIZE, INSTANT, SECONDS, SIZE, STORE, WHOLE_SECONDS
from mock_platform.settings import ConnectionSettings, DeliverySettings, Settings

_DEFAULTS = Settings()
_COUNT = click.IntRange(min=1)
Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Setting:
    """An option and the field that it fills. A flag `--no-x` fills `x` with its opposite."""

    name: str
    help: str
    kind: Any = None
    field: str = ""
    many: bool = False
    flag: bool = False
    metavar: str | None = None
    plain_default: str | None = None
    """What the help shows as default where the value itself would not say it."""

    @property
    def parameter(self) -> str:
        """The name of click's parameter and of the environment twin."""
        return self.name.replace("-", "_")

    @property
    def target(self) -> str:
        """The field, `delivery.x` for one of `DeliverySettings`, `connection.x` likewise."""
        return self.field or self.parameter.removeprefix("no_")

    @property
    def inverted(self) -> bool:
        """Whether the flag takes something away."""
        return self.flag and self.name.startswith("no-")

    def default(self) -> Any:
        """The field's own default, as the option has it."""
        group, _, name = self.target.rpartition(".")
        value = getattr(getattr(_DEFAULTS, group) if group else _DEFAULTS, name)
        return not value if self.inverted else value

    def option(self) -> Callable[[Command], Command]:
        """The option, for a click command."""
        if self.flag:
            opposite = self.name.removeprefix("no-") if self.inverted else f"no-{self.name}"
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
    Setting("host", "Address to listen on. Beyond loopback the control plane needs a token."),
    Setting("port", "Port to listen on; 0 takes a free one.", click.IntRange(0, 65535)),
    Setting(
        "public-host",
        "A further name under which clients reach this server, such as a container's. Repeatable.",
        field="public_hosts", many=True, metavar="NAME",
    ),
    Setting("fixtures", "Folder of fixture files, laid over the shipped ones and over those named "
            "before. Repeatable.", _FOLDER, many=True, metavar="DIR"),
    Setting("no-default-fixtures", "Begin without the shipped fixtures.", flag=True),
    Setting("scenario", "Name or file of a scenario that is active from the start and after each "
            "reset, or a folder of files that are known. Repeatable.",
            field="scenarios", many=True, metavar="NAME|FILE|FOLDER"),
    Setting("store", "Where the records live: in memory, or kept in a TinyDB file.", STORE),
    Setting(
        "durability",
        "What a kept file holds after a crash: the last snapshot, every write unless the machine "
        "fails (log), every write (fsync).",
        click.Choice(["snapshot", "log", "fsync"]),
    ),
    Setting("seed", "From which ids and tokens are drawn: the same seed, the same ones.", int),
    Setting("freeze", "Let the worlds' clocks stand still at this moment.", INSTANT,
            plain_default="the clock runs"),
    Setting("auth", "Whether credentials are checked; off takes whatever comes.",
            click.Choice(["strict", "off"])),
    Setting("ads-auth", "Credentials of the advertising interface: OAuth 1.0a and bearer tokens, "
            "or the first alone.", click.Choice(["any", "oauth1"])),
    Setting("strict", "Refuse with 501 what the specification does not show.", flag=True),
    Setting("no-markers", "Leave the X-Mock-… headers out of the answers.", flag=True),
    Setting("limits", "Rate limits to enforce: the specification's, those that the public "
            "interface names as well, or none.", click.Choice(["spec", "public", "off"])),
    Setting("card-envelope", "Form of a single card in an answer's data: the object, or an array "
            "of one.", click.Choice(["object", "array"])),
    Setting("fresh-tokens", "Issue a new access token at each sign-in and invalidate the one that "
            "user and app held.", flag=True),
    Setting("replay-minimum-age", "Refuse replay windows younger than the retired path took "
            "(31 and 10 minutes).", flag=True),
    Setting("require-https", "Refuse the OAuth steps over plain http.", flag=True),
    Setting("oauth-tolerance", "How far an OAuth timestamp may lie off the machine's clock, "
            "either way.", WHOLE_SECONDS),
    Setting("oauth-limit", "Requests to each OAuth endpoint per app in 15 minutes.", _COUNT,
            plain_default="unlimited"),
    Setting("bearer-threshold", "Bearer token requests per app and --bearer-window; beyond it "
            "code 99 answers.", _COUNT, plain_default="unlimited"),
    Setting("bearer-window", "Length of the window of --bearer-threshold.", WHOLE_SECONDS),
    Setting("control-token", "What users of the control plane must send; made up and printed "
            "where one is needed and none is given.", metavar="TOKEN", plain_default="none"),
    Setting("max-body", "Largest request body, up to 32M.", BODY_SIZE, plain_default="16M"),
    Setting("max-nesting", "Deepest nesting of a JSON body.", _COUNT),
    Setting("max-worlds", "How many worlds there may be.", _COUNT),
    Setting("journal-entries", "How many requests each world's journal keeps.",
            click.IntRange(min=0)),
    Setting("journal-bytes", "How much each world's journal keeps.", SIZE, plain_default="64M"),
    Setting("journal-total-bytes", "How much the journals of all worlds keep together; beyond it "
            "the largest gives up its oldest requests.", SIZE, plain_default="256M"),
    Setting("delivery-timeout", "How long a webhook receiver has to answer.", SECONDS,
            field="delivery.timeout"),
    Setting("delivery-attempts", "How often one webhook event is tried.", _COUNT,
            field="delivery.attempts"),
    Setting("delivery-backoff", "Wait before the second attempt, doubled for each further one.",
            SECONDS, field="delivery.backoff"),
    Setting("delivery-allow-host", "A host beyond loopback that webhooks may be delivered to; "
            "'*' for any. Repeatable.", field="delivery.allow_hosts", many=True, metavar="HOST"),
    Setting("delivery-workers", "How many deliveries run at the same time.", _COUNT,
            field="delivery.workers"),
    Setting("max-connections", "How many connections there may be; one more is told 503.", _COUNT,
            field="connection.connections"),
    Setting("max-connections-per-address", "How many of them may come from one address.", _COUNT,
            field="connection.connections_per_address"),
    Setting("head-timeout", "How long the headers of a request, or a TLS handshake, may take.",
            SECONDS, field="connection.head_seconds"),
    Setting("body-timeout", "How long the body of a request may take.", SECONDS,
            field="connection.body_seconds"),
    Setting("body-rate", "Bytes a second that a body must bring on average, once --head-timeout "
            "is over.", SIZE, field="connection.body_bytes_per_second", plain_default="1K"),
    Setting("idle-timeout", "How long a connection may wait for its next request.", SECONDS,
            field="connection.idle_seconds"),
    Setting("write-timeout", "How long a client may take nothing of its answer.", SECONDS,
            field="connection.write_seconds"),
)  # fmt: skip


def settings_options(*, without: frozenset[str] = frozenset()) -> Callable[[Command], Command]:
    """Give a command an option for each setting, but for the named ones."""

    def decorate(command: Command) -> Command:
        for setting in reversed(SETTINGS):
            if setting.name not in without:
                command = setting.option()(command)
        return command

    return decorate


def settings_of(values: Mapping[str, Any]) -> Settings:
    """The settings that a command's parameters say; absent ones keep their default."""
    groups: dict[str, dict[str, Any]] = {"": {}, "delivery": {}, "connection": {}}
    for setting in SETTINGS:
        if setting.parameter not in values:
            continue
        value = values[setting.parameter]
        if setting.inverted:
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
