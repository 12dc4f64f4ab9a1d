"""`fidelity`: the figures of the package's own facts, of other recordings, or of a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import click

from mock_platform.cli.command import CheckFailed
from mock_platform.cli.comparing import name_host, read_credentials
from mock_platform.core.jsonio import pretty
from mock_platform.core.pairs import decode_pairs
from mock_platform.delivery.upstream import BadBaseUrl
from mock_platform.settings import NamesMode, is_loopback
from mock_platform.verification.compare.client import HttpClient, ProbeRequest, ServerUnreachable
from mock_platform.verification.compare.side import OriginalNames
from mock_platform.verification.fidelity.facts import BadFacts, Fact, read_facts, read_packaged
from mock_platform.verification.fidelity.instrument import Instrument
from mock_platform.verification.fidelity.measure import Measurement, measure, measure_sandbox
from mock_platform.verification.fidelity.report import list_falls, read_baseline, write_text
from mock_platform.verification.fidelity.sandbox import FactSandbox, Sent
from mock_platform.verification.har.exchange import BadHar


def show_fidelity(against: str | None, form: Literal["text", "json"], *, yes: bool) -> None:
    """Print the figures.

    Raises:
        CheckFailed: A figure of the package's own facts is worse than the one that was kept.
        click.UsageError: The facts or the server cannot be used.
    """
    try:
        found = _measure(against, yes=yes)
    except (BadFacts, BadHar, BadBaseUrl, ServerUnreachable) as fault:
        raise click.UsageError(str(fault)) from fault
    except OSError as fault:
        raise click.UsageError(f"{fault.filename} cannot be read: {fault.strerror}.") from fault
    click.echo(pretty(found.as_json()) if form == "json" else "\n".join(write_text(found)))
    falls = list(list_falls(found, read_baseline())) if against is None else []
    if falls:
        raise CheckFailed(f"Figures fell: {'; '.join(falls)}.")


def _measure(against: str | None, *, yes: bool) -> Measurement:
    if against is None:
        return measure_sandbox(read_packaged())
    if against.startswith(("http://", "https://")):
        return _measure_server(against, yes=yes)
    folder = Path(against)
    if not folder.exists():
        text = f"--against {against} is neither an address (https://…) nor a folder"
        raise click.UsageError(f"{text} that exists.")
    return measure_sandbox(read_facts(folder))


def _measure_server(url: str, *, yes: bool) -> Measurement:
    host = urlsplit(url).hostname or ""
    if not is_loopback(host) and not yes:
        raise click.UsageError(
            f"{host} is not on this machine. --yes sends it requests that only read, signed with "
            "your credentials."
        )
    client = HttpClient(url, read_credentials(None))
    try:
        return measure(read_packaged(), _make_asker(client, name_host(host)), by_form=True)
    finally:
        client.close()


def _make_asker(client: HttpClient, names: NamesMode) -> Callable[[Fact], tuple[Fact, Sent | str]]:
    """Return what sends a server the request of a fact, if it only reads."""
    sandbox, translation = FactSandbox(Instrument.read()), OriginalNames()

    def ask(fact: Fact) -> tuple[Fact, Sent | str]:
        exchange, operation = sandbox.complete(fact)
        if operation is None or exchange.request.method != "GET":
            return fact, "does more than read"
        if not fact.operation.startswith("GET "):
            return fact, "is no single answer"
        request = ProbeRequest(
            exchange.request.path,
            tuple(decode_pairs(exchange.request.query)),
            schemes=client.list_schemes(operation.auth.schemes),
        )
        if names == "original":
            request = translation.write_request(operation, request)
        answer = client.start(request)()
        if names == "original":
            answer = translation.read_answer(operation, answer)
        is_same = answer.status == fact.exchange.response.status
        if not is_same or (answer.is_success and answer.is_list and not answer.records):
            return fact, f"{answer.status}: the server has other records or rights"
        return fact, Sent(request.target, answer)

    return ask
