"""Asks the control plane of one world."""

from __future__ import annotations

import os
from datetime import UTC
from typing import Any

import requests

from mock_platform.client.errors import Refused, Unreachable
from mock_platform.client.local import Instant, moment
from mock_platform.control.guard import TOKEN_HEADER
from mock_platform.world.clock import wire_millis

TOKEN = "MOCK_PLATFORM_CONTROL_TOKEN"
"""The variable with the control token of a server that has one."""
LONGEST_WAIT = 60
"""Seconds that a route may be asked to wait."""
_SECONDS = LONGEST_WAIT + 30


_START = "Start a server with `mock-platform serve`."
_TRUST = "Name the file of its certificate authority in REQUESTS_CA_BUNDLE."
_FOREIGN = "what answers is no mock_platform. Take the url of its READY line."


def connect() -> requests.Session:
    """Connections to the control plane, with the token that the environment names, no proxies."""
    session = requests.Session()
    session.trust_env = False
    session.verify = trusted()
    token = os.environ.get(TOKEN)
    if token:
        session.headers[TOKEN_HEADER] = token
    return session


def trusted() -> str | bool:
    """The file of the certificate authority that the environment names, or the usual ones."""
    return os.environ.get("REQUESTS_CA_BUNDLE") or True


class Control:
    """The control plane of one world."""

    def __init__(self, url: str, session: requests.Session) -> None:
        self._url = url
        self._session = session

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """What a route answers; `None` for nothing.

        Raises:
            Refused: It is an error, or no answer of a sandbox.
            Unreachable: There is none.
        """
        sent = {name: value for name, value in query.items() if value is not None}
        url = f"{self._url}{path}"
        try:
            answer = self._session.request(method, url, json=body, params=sent, timeout=_SECONDS)
        except requests.exceptions.SSLError as fault:
            raise Unreachable(f"{url} is not trusted ({fault}). {_TRUST}") from fault
        except requests.RequestException as fault:
            raise Unreachable(f"nobody answers at {url}. {_START}") from fault
        if not answer.ok:
            raise Refused(_detail(answer), answer.status_code)
        try:
            return answer.json() if answer.content else None
        except ValueError as fault:
            raise Refused(f"{method} {url}: {_FOREIGN}") from fault


def wire(value: Instant) -> str:
    """A moment as the control plane takes it.

    Raises:
        ValueError: It is none, or a datetime without offset from UTC.
    """
    return wire_millis(moment(value).astimezone(UTC))


def _detail(answer: requests.Response) -> str:
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        detail = _FOREIGN
    if answer.status_code == 401:
        detail += f" This process takes it from {TOKEN}."
    return f"{answer.request.method} {answer.url}: {answer.status_code}: {detail}"
