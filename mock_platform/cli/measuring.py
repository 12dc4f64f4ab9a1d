"""`coverage` and `diff`: what clients exercised, and how another server differs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import urlsplit

import click
import requests

from mock_platform.cli.conditions import CoverageConditions
from mock_platform.cli.trouble import CheckFailed
from mock_platform.client.remote.control import read_authority
from mock_platform.control.credential_texts import environment
from mock_platform.control.routes import describe_everything
from mock_platform.core.jsonio import pretty
from mock_platform.coverage import CoverageDocument, Format, render
from mock_platform.drift import (
    BadBaseUrl,
    Drift,
    ServerUnreachable,
    SigningCredentials,
    check,
    report,
)
from mock_platform.drift.client import REQUEST_TIMEOUT_SECONDS, HttpClient
from mock_platform.platform import Platform

_NEEDED = (
    "MOCK_PLATFORM_CONSUMER_KEY, MOCK_PLATFORM_CONSUMER_SECRET, MOCK_PLATFORM_ACCESS_TOKEN and "
    "MOCK_PLATFORM_ACCESS_TOKEN_SECRET, or MOCK_PLATFORM_BEARER_TOKEN"
)


def show_coverage(
    url: str, form: Format, conditions: CoverageConditions, token: str | None, ca: Path | None
) -> None:
    """Print the coverage of a running server.

    Raises:
        CheckFailed: The coverage is not available, or not as it must be.
        click.UsageError: The patterns or the baseline cannot be used.
    """
    found = _fetch_coverage(url.rstrip("/").removesuffix("/_mock"), token, ca)
    gate = conditions.make_gate([row["id"] for row in found["operations"]], "--")
    found = gate.scope.restrict(found)
    click.echo(render(found, form, gate), nl=False)
    if form == "json":
        click.echo()
    failures = gate.list_failures(found)
    if failures:
        raise CheckFailed("\n".join(line for each in failures for line in [each.text, *each.lost]))


def show_drift(base_url: str, file: Path | None, form: str, ca: Path | None, *, yes: bool) -> None:
    """Print the differences of another server.

    Raises:
        CheckFailed: The server differs.
        click.UsageError: The address, the credentials or the consent are missing.
    """
    credentials = _credentials(file)
    try:
        client = HttpClient(base_url, credentials, ca)
    except BadBaseUrl as fault:
        raise click.UsageError(str(fault)) from fault
    try:
        _require_consent(client.base_url, yes=yes)
        drift = _check_server(client)
    finally:
        client.close()
    shown = report.as_json(drift, client.base_url) if form == "json" else None
    click.echo(report.render_text(drift, client.base_url) if shown is None else pretty(shown))
    if drift.differs:
        raise CheckFailed(f"{client.base_url} differs from what this sandbox declares.")


def _check_server(client: HttpClient) -> Drift:
    platform = Platform()
    try:
        return check(client, describe_everything(platform).at(client.base_url), platform)
    except ServerUnreachable as fault:
        raise click.UsageError(str(fault)) from fault
    finally:
        platform.close()


def _require_consent(base_url: str, *, yes: bool) -> None:
    if yes:
        return
    host = urlsplit(base_url).netloc
    try:
        agreed = click.confirm(
            f"Send GET requests signed with your credentials to {host}?", default=False, err=True
        )
    except click.Abort:
        agreed = False
    if not agreed:
        raise click.UsageError(f"Nothing was sent. Use --yes to send signed requests to {host}.")


def _credentials(file: Path | None) -> SigningCredentials:
    variables = dict(os.environ) if file is None else _read_variables(file)
    found = SigningCredentials.from_variables(variables)
    if not found.is_usable:
        source = "the environment" if file is None else str(file)
        raise click.UsageError(f"{source} contains no credentials. Needed: {_NEEDED}.")
    return found


def _read_variables(file: Path) -> dict[str, str]:
    """Returns the variables in a file that `mock-platform credentials` wrote, in either format."""
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as fault:
        raise click.UsageError(f"{file} cannot be read: {fault}.") from fault
    if not text.lstrip().startswith("{"):
        pairs = (line.strip().removeprefix("export ").partition("=") for line in text.splitlines())
        return {name.strip(): value.strip().strip("'\"") for name, _, value in pairs if name}
    try:
        return environment({"app": None, "user": None, "bearer_token": None, "accounts": [],
                            "webhook_id": None, **json.loads(text)})  # fmt: skip
    except (ValueError, TypeError, KeyError) as fault:
        raise click.UsageError(
            f"{file} is not what `mock-platform credentials --format json` prints ({fault!r})."
        ) from fault


def _fetch_coverage(url: str, token: str | None, ca: Path | None) -> CoverageDocument:
    headers = {} if token is None else {"X-Mock-Control-Token": token}
    with requests.Session() as session:
        session.trust_env = False  # a proxy of the machine does not reach a local server
        session.verify = read_authority() if ca is None else str(ca)
        try:
            answer = session.get(
                f"{url}/_mock/coverage",
                headers=headers,
                timeout=REQUEST_TIMEOUT_SECONDS,
                allow_redirects=False,
            )
            body = answer.json()
        except (requests.RequestException, OSError) as fault:
            raise CheckFailed(
                f"{url} has no coverage: {fault}. Is `mock-platform serve` running "
                "there? Set its address with --url."
            ) from fault
    if answer.status_code != 200 or not isinstance(body, dict) or "percent" not in body:
        detail = body.get("detail") if isinstance(body, dict) else None
        raise CheckFailed(f"{url} answers {answer.status_code}: {detail or 'no coverage'}")
    found: CoverageDocument = body
    return found
