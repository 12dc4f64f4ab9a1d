"""The sandbox as one of the two servers that are compared: in this process, without a socket."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from mock_platform.core.auth.authenticate import Scheme
from mock_platform.core.call import Call
from mock_platform.core.spelling.exchange import HEADER
from mock_platform.drift.answers import ComparedAnswer
from mock_platform.drift.client import ProbeRequest, SigningCredentials, Wait
from mock_platform.drift.values import singular
from mock_platform.platform import Platform

_MAX_KEYS = 6
_HERE = "http://localhost"


class OwnSandbox:
    """Answers requests from a platform of its own, signed with that platform's credentials."""

    base_url = _HERE
    connections = 1

    def __init__(self, platform: Platform, credentials: SigningCredentials) -> None:
        self.platform = platform
        self._credentials = credentials

    def list_keys(self) -> Iterator[tuple[str, list[str]]]:
        """Return the name of the id of each table's records, and some of their ids."""
        store = self.platform.worlds.default.store
        for name in self.platform.tables:
            keys = [entry.key for entry in store.page(name, limit=_MAX_KEYS)]
            yield f"{singular(name)}_id", keys

    def list_schemes(self, schemes: tuple[Scheme, ...]) -> tuple[Scheme, ...]:
        """Return those of these schemes for which there are credentials, the best one first."""
        return self._credentials.list_schemes(schemes)

    def start(self, request: ProbeRequest) -> Wait:
        """Return what answers one request when it is called."""
        return partial(self.ask, request)

    def ask(self, request: ProbeRequest) -> ComparedAnswer:
        """Return the answer to one request."""
        url = _HERE + request.target
        headers = self._credentials.sign(request.method, url, request.schemes, request.signing)
        path, _, query = request.target.partition("?")
        pairs = [("Host", "localhost"), ("Accept", "application/json"), *headers.items()]
        if request.names == "original":
            pairs.append((HEADER, "original"))
        call = Call(request.method, url, path, _HERE, pairs, query_string=query)
        reply = self.platform.handle(call)
        return ComparedAnswer(reply.status, reply.headers, reply.body)
