"""Sends requests to the control plane of one world."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import requests

from mock_platform.control.mistakes import TOKEN_HEADER, rebuild_mistake
from mock_platform.core.errors import Refused, Unreachable
from mock_platform.core.jsonio import dumps

TOKEN = "MOCK_PLATFORM_CONTROL_TOKEN"
"""Environment variable: the control token of the server."""
AUTHORITY = "REQUESTS_CA_BUNDLE"
"""Environment variable: the file of a certificate authority to trust."""
LONGEST_WAIT_SECONDS = 60
"""Maximum number of seconds for which a route can be asked to wait."""
_SECONDS = LONGEST_WAIT_SECONDS + 30
_NO_BODY: Any = object()

_START = "Start a server with `mock-platform serve`."
_TRUST = f"Name the file of its certificate authority in {AUTHORITY}."
_FOREIGN = "the answer does not come from a mock_platform. Use the url of its READY line."


def split_address(url: str) -> tuple[str, str | None]:
    """Return the address of a server, and the world that the end of `url` names.

    Example:
        >>> split_address("http://127.0.0.1:8080/~w1"), split_address("http://127.0.0.1:8080/_mock")
        (('http://127.0.0.1:8080', 'w1'), ('http://127.0.0.1:8080', None))
    """
    base, tilde, name = url.rstrip("/").removesuffix("/_mock").partition("/~")
    return base, name if tilde else None


def connect(token: str | None = None, ca: Path | None = None) -> requests.Session:
    """Return a session for the control plane, without proxies.

    Token and authority are those of the environment if they are not given.
    """
    session = requests.Session()
    session.trust_env = False
    session.verify = read_authority() if ca is None else str(ca)
    token = token or os.environ.get(TOKEN)
    if token:
        session.headers[TOKEN_HEADER] = token
    return session


def read_authority() -> str | bool:
    """Return the certificate authority file from the environment; `True` for the usual ones."""
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
        """Return the answer of a route; `None` if it has no body. `None` in the query is left out.

        Raises:
            Exception: The exception that the same mistake raises in this process, for known kinds.
            Refused: It is another error, or the answer does not come from a sandbox.
            Unreachable: No answer came.
        """
        answer = self._send(method, path, body, query)
        try:
            return answer.json() if answer.content else None
        except ValueError as fault:
            raise Refused(f"{method} {self._url}{path}: {_FOREIGN}") from fault

    def fetch(self, path: str) -> bytes:
        """Return the bytes of an answer that is not JSON. Raises the same as `ask`."""
        return self._send("GET", path).content

    def _send(
        self,
        method: str,
        path: str,
        body: Any = _NO_BODY,
        query: Mapping[str, str | None] | None = None,
    ) -> requests.Response:
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
            raise Unreachable(f"no server answers at {url}. {_START}") from fault
        if not answer.ok:
            raise _rebuild_exception(answer)
        return answer

    def find(self, path: str) -> Any:
        """Return the answer of a path; `None` if it is not found. Raises the same as `ask`."""
        try:
            return self.ask("GET", path)
        except Refused as refused:
            if refused.status != 404:
                raise
            return None


def _rebuild_exception(answer: requests.Response) -> Exception:
    """Return the exception that an answer describes."""
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
        detail += f" This process reads the token from {TOKEN}."
    return Refused(
        f"{answer.request.method} {answer.url}: {answer.status_code}: {detail}", answer.status_code
    )
