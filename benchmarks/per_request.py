"""What a request costs: below the edge, through the edge, and beside a bare Flask application.

Run it with `python benchmarks/per_request.py`. Microseconds of processor time, so that what else
runs on the machine counts little. Each kind of request is measured in small batches, each beside a
batch of the bare Flask application; the figures are medians over all batches, and the ratio is the
median of the ratios of two batches that ran side by side.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import process_time
from typing import Any
from urllib.parse import urlsplit

from flask import Flask
from oauthlib.oauth1 import Client
from werkzeug.test import EnvironBuilder

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.core.call import Call
from mock_platform.platform import Platform
from mock_platform.serving.app import create_app
from mock_platform.settings import Settings

HOST = "http://127.0.0.1:8080"
ACCOUNT = "/12/accounts/18ce54d4x5t"
USER = "/2/users/by/username/harbor_roasters"
FORM = ("Content-Type", "application/x-www-form-urlencoded")
BATCH = 50
ROUNDS = 60


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of request: how to make those of a batch, unmeasured, and how to answer one."""

    make: Callable[[], Iterable[Any]]
    answer: Callable[[Any], object]

    def measure(self) -> float:
        """Microseconds of processor time for one request of a batch."""
        requests = list(self.make())
        answer = self.answer
        begun = process_time()
        for request in requests:
            answer(request)
        return (process_time() - begun) / len(requests) * 1e6


def bare_flask() -> Kind:
    """A Flask route that returns a constant, by raw WSGI."""
    app = Flask("bare")

    @app.get("/12/accounts/<account>/account_media")
    def media(account: str) -> dict[str, str]:
        return {"id": account}

    environ = EnvironBuilder(f"{ACCOUNT}/account_media").get_environ()
    return wsgi(app.wsgi_app, environ)


def wsgi(app: Callable[..., Iterable[bytes]], environ: Mapping[str, Any]) -> Kind:
    """Requests by raw WSGI."""
    return Kind(
        lambda: [dict(environ) for _ in range(BATCH)],
        lambda request: list(app(request, lambda *_: None)),
    )


def kinds() -> dict[str, Kind]:
    """The kinds of requests, by name."""
    platform = Platform()
    known = credentials(platform.worlds.default)
    app, user = known["app"], known["user"]
    signer = Client(
        app["consumer_key"],
        app["consumer_secret"],
        user["access_token"],
        user["access_token_secret"],
    )
    bearer = [("Authorization", f"Bearer {known['bearer_token']}")]

    def signed(path: str) -> Kind:
        """Requests that differ in their nonces."""
        return Kind(
            lambda: [_call(path, list(signer.sign(HOST + path)[1].items())) for _ in range(BATCH)],
            platform.handle,
        )

    def authorized(path: str, method: str = "GET", body: bytes = b"") -> Kind:
        """Requests with a bearer token."""
        headers = [*bearer, FORM] if body else bearer
        return Kind(
            lambda: [_call(path, headers, method, body) for _ in range(BATCH)], platform.handle
        )

    recorded = Platform(Settings(wire="recorded"))
    one, page = f"{ACCOUNT}/account_media/2pzo", f"{ACCOUNT}/account_media?count=9"
    numbers = iter(range(10**9))
    hooked = create_app(platform)
    hooked.before_request(lambda: None)
    environ = EnvironBuilder(one, headers=dict(bearer)).get_environ()
    return {
        "signed read of one record, below the edge": signed(one),
        "signed list of nine records, below the edge": signed(page),
        "bearer read of one record, below the edge": authorized(one),
        "bearer list of nine records, below the edge": authorized(page),
        "bearer update of one record, below the edge": authorized(
            f"{ACCOUNT}/line_items/itttx", "PUT", b"name=A&bid_amount_local_micro=1500000"
        ),
        **{
            f"user by name, {name}, below the edge": Kind(
                lambda made=made, more=more: _renew(made, [*bearer, *more]),
                made.handle,
            )
            for name, made, more in (
                ("as documented", Platform(), []),
                ("with its public limit", Platform(Settings(limits="public")), []),
                ("as recorded", recorded, []),
                ("as recorded, in gzip", recorded, [("Accept-Encoding", "gzip, deflate")]),
            )
        },
        "bearer read of one record, raw WSGI": wsgi(create_app(platform).wsgi_app, environ),
        "bearer read of one record, by way of a hook": wsgi(hooked.wsgi_app, environ),
        "unknown path, each another, below the edge": Kind(
            lambda: [
                _call(f"/12/acounts/{_letters(number)}", [])
                for number, _ in zip(numbers, range(BATCH), strict=False)
            ],
            platform.handle,
        ),
        "unknown path, asked again, below the edge": Kind(
            lambda: [_call("/12/acounts", []) for _ in range(BATCH)], platform.handle
        ),
    }


def _call(
    target: str, headers: list[tuple[str, str]], method: str = "GET", body: bytes = b""
) -> Call:
    parts = urlsplit(target)
    return Call(
        method, HOST + target, parts.path, HOST, headers, body=body, query_string=parts.query
    )


def _renew(platform: Platform, headers: list[tuple[str, str]]) -> list[Call]:
    """The reads of a user, none of which is one too many."""
    platform.worlds.default.windows.clear()
    return [_call(USER, headers) for _ in range(BATCH)]


def _letters(number: int) -> str:
    """A word of its own for each number; digits would make it an id, and all paths one."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def main() -> None:
    """Print the table."""
    bare, measured = bare_flask(), kinds()
    for kind in (bare, *measured.values()):
        for _ in range(4):
            kind.measure()
    bases: list[float] = []
    taken: dict[str, list[float]] = {name: [] for name in measured}
    ratios: dict[str, list[float]] = {name: [] for name in measured}
    for _ in range(ROUNDS):
        for name, kind in measured.items():
            base, own = bare.measure(), kind.measure()
            bases.append(base)
            taken[name].append(own)
            ratios[name].append(own / base)
    print(f"{'bare Flask application, raw WSGI':54} {statistics.median(bases):7.1f} us  x 1.00")
    for name, values in taken.items():
        value, ratio = statistics.median(values), statistics.median(ratios[name])
        print(f"{name:54} {value:7.1f} us  x{ratio:5.2f}")


if __name__ == "__main__":
    main()
