"""`pact`: writes what a client exercised as a Pact file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from mock_platform.cli.acting import open_world
from mock_platform.cli.trouble import CheckFailed, write_report
from mock_platform.client.remote.control import Control, connect
from mock_platform.control.routes import describe_everything
from mock_platform.core.jsonio import pretty
from mock_platform.core.operation import Operation
from mock_platform.core.warning_counts import strip_origin
from mock_platform.har import BadHar, HarExchange, read_har
from mock_platform.pact import (
    LeftOut,
    PactExchange,
    Parties,
    SentCredentials,
    make_beginning,
    make_pact,
)
from mock_platform.pact.recorded import find_callback
from mock_platform.platform import Platform
from mock_platform.world.clock import wire_millis

_SANDBOX = "/sandbox"
_SANDBOX_HOST = "ads-api-sandbox."


def write_pact(
    har: Path | None, consumer: str, provider: str, out: Path, server: Mapping[str, Any]
) -> None:
    """Write a Pact file, and print what is in it and what is not.

    Raises:
        CheckFailed: No server answers, or no request could be taken.
        click.UsageError: The archive cannot be used.
    """
    parties = Parties(consumer, provider)
    found, left_out = _fetch(parties, server) if har is None else _convert(parties, har)
    for each in left_out:
        click.echo(f"left out: {each.request}: {each.reason}", err=True)
    if not found["interactions"]:
        raise CheckFailed("There is no request for a Pact file; nothing was written.")
    write_report(out, pretty(found) + "\n")
    count, out_count = len(found["interactions"]), len(left_out)
    click.echo(f"{out}: {count} interactions, {out_count} requests left out.", err=True)


def _fetch(parties: Parties, server: Mapping[str, Any]) -> tuple[dict[str, Any], list[LeftOut]]:
    with open_world(**server) as world:
        session = connect(server["control_token"], server["ca"])
        with session:
            answer = Control(world.control_url, session).ask(
                "GET", "/pact", query=parties._asdict()
            )
    return answer["pact"], [LeftOut(**each) for each in answer["left_out"]]


def _convert(parties: Parties, har: Path) -> tuple[dict[str, Any], list[LeftOut]]:
    platform = Platform()
    try:
        openapi = describe_everything(platform).at("http://localhost")
        return make_pact(parties, _read_archive(platform, har), openapi)
    except BadHar as fault:
        raise click.UsageError(f"{fault}.") from fault
    except OSError as fault:
        raise click.UsageError(f"{har} cannot be read: {fault.strerror}.") from fault
    finally:
        platform.close()


def _read_archive(platform: Platform, har: Path) -> Iterator[PactExchange | LeftOut]:
    for exchange in read_har(har):
        request, response = exchange.request, exchange.response
        path, _, query = strip_origin(request.url).partition("?")
        operation, path = _find_operation(platform, exchange, path)
        label = f"{request.method} {path}"
        if operation is None:
            yield LeftOut(label, "it is no request of this interface")
        elif not response.status:
            yield LeftOut(label, "its answer is not in the archive")
        else:
            moment = None if exchange.started is None else wire_millis(exchange.started)
            yield PactExchange(
                request.method,
                path,
                query,
                request.headers,
                request.body,
                response.status,
                response.headers,
                response.body,
                operation,
                _read_credentials(exchange, operation),
                (make_beginning(moment, [], {}),),
            )


def _find_operation(
    platform: Platform, exchange: HarExchange, path: str
) -> tuple[Operation | None, str]:
    """Returns the operation of a request, and its path at the base address of the sandbox."""
    if exchange.request.host.startswith(_SANDBOX_HOST):
        path = f"{_SANDBOX}{path}"
    if path.startswith(f"{_SANDBOX}/"):
        below = path.removeprefix(_SANDBOX)
        return platform.where(exchange.request.method, below, "sandbox"), path
    return platform.where(exchange.request.method, path), path


def _read_credentials(exchange: HarExchange, operation: Operation) -> SentCredentials | None:
    """Returns with what kind of credentials a request was signed; whose they were is not known."""
    sent = exchange.request.header("authorization") or ""
    kind = sent.partition(" ")[0].lower()
    if exchange.response.status == 401:
        return None
    if kind == "oauth":
        scheme = "oauth1" if "oauth_token=" in sent else "oauth1-app"
        return SentCredentials(scheme, callback=find_callback(sent))
    if kind == "bearer":
        return SentCredentials("bearer" if "bearer" in operation.auth.schemes else "oauth2")
    if kind == "basic":
        client = "oauth2-client" in operation.auth.schemes
        return SentCredentials("oauth2-client" if client else "basic")
    return None
