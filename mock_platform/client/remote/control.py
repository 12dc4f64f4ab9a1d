"""Asks the control plane of one world."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import requests

from mock_platform.client.errors import Refused, Unreachable
from mock_platform.control.guard import TOKEN_HEADER
from mock_platform.control.mistakes import rebuild_mistake
from mock_platform.core.jsonio import dumps

TOKEN = "MOCK_PLATFORM_CONTROL_TOKEN"
"""The variable with the control token of a server that has one."""
AUTHORITY = "REQUESTS_CA_BUNDLE"
"""The variable with the file of a certificate authority to trust."""
LONGEST_WAIT = 60
"""Seconds that a route may be asked to wait."""
_SECONDS = LONGEST_WAIT + 30
_NO_BODY: Any = object()

_START = "Start a server with `mock-platform serve`."
_TRUST = f"Name the file of its certificate authority in {AUTHORITY}."
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
    return os.environ.get(AUTHORITY) or True


class Control:
    """The control plane of one world."""

    def __init__(self, url: str, session: requests.Session) -> None:
        self._url = url
        self._session = session

    def ask(
        self,
        method: str,
        path: str,
        body: Any = _NO_BODY,
        query: Mapping[str, str | None] | None = None,
    ) -> Any:
        """What a route answers; `None` for nothing. What is `None` in the query is left out.

        Raises:
            Exception: What the same mistake raises in this process, for those passed on by name.
            Refused: It is another error, or no answer of a sandbox.
            Unreachable: There is none.
        """
        data, headers = None, {}
        if body is not _NO_BODY:
            data, headers = dumps(body), {"Content-Type": "application/json"}
        url = f"{self._url}{path}"
        try:
            answer = self._session.request(
                method, url, params=query, data=data, headers=headers, timeout=_SECONDS
            )
        except requests.exceptions.SSLError as fault:
            raise Unreachable(f"{url} is not trusted ({fault}). {_TRUST}") from fault
        except requests.RequestException as fault:
            raise Unreachable(f"nobody answers at {url}. {_START}") from fault
        if not answer.ok:
            raise _fault(answer)
        try:
            return answer.json() if answer.content else None
        except ValueError as fault:
            raise Refused(f"{method} {url}: {_FOREIGN}") from fault

    def find(self, path: str) -> Any:
        """What a path answers; `None` if there is nothing under it. Raises what `ask` raises."""
        try:
            return self.ask("GET", path)
        except Refused as refused:
            if refused.status != 404:
                raise
            return None


def _fault(answer: requests.Response) -> Exception:
    """The exception that an answer stands for."""
    told: dict[str, Any] = {}
    try:
        told = answer.json()
        detail = told["detail"]
    except (ValueError, KeyError, TypeError):
        detail = _FOREIGN
    mistake = told.get("mistake") if isinstance(told, dict) else None
    known = None if mistake is None else rebuild_mistake(mistake)
    if known is not None:
        return known
    if answer.status_code == 401:
        detail += f" This process takes it from {TOKEN}."
    return Refused(
        f"{answer.request.method} {answer.url}: {answer.status_code}: {detail}", answer.status_code
    )
