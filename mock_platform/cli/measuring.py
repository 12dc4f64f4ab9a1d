"""`coverage`: what clients of a server exercised."""

from __future__ import annotations

from pathlib import Path

import click
import requests

from mock_platform.cli.conditions import CoverageConditions
from mock_platform.cli.trouble import CheckFailed
from mock_platform.client.remote.control import read_authority
from mock_platform.control.headers import TOKEN_HEADER
from mock_platform.coverage.document import CoverageDocument
from mock_platform.coverage.pages import Format, render

_REQUEST_TIMEOUT_SECONDS = 30.0


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


def _fetch_coverage(url: str, token: str | None, ca: Path | None) -> CoverageDocument:
    headers = {} if token is None else {TOKEN_HEADER: token}
    with requests.Session() as session:
        session.trust_env = False  # a proxy of the machine does not reach a local server
        session.verify = read_authority() if ca is None else str(ca)
        try:
            answer = session.get(
                f"{url}/_mock/coverage",
                headers=headers,
                timeout=_REQUEST_TIMEOUT_SECONDS,
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
