"""What a request costs: below the edge, through the edge, and beside a bare Flask application.

Run it with `python benchmarks/per_request.py`. Microseconds; medians, since the machine is shared.
Each figure has its ratio to the bare Flask application measured in the same run.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from urllib.parse import urlsplit

from flask import Flask
from oauthlib.oauth1 import Client
from werkzeug.test import EnvironBuilder

from mock_platform.app import create_app
from mock_platform.control.known_credentials import credentials
from mock_platform.core.call import Call
from mock_platform.platform import Platform
from mock_platform.world.clock import UPTIME

HOST = "http://127.0.0.1:8080"
ACCOUNT = "/12/accounts/18ce54d4x5t"
ROUNDS = 2000


def median(work: Callable[[int], object], times: int = ROUNDS) -> float:
    """Median microseconds of one call of `work`, after a warm-up."""
    for number in range(100):
        work(number)
    taken = []
    for number in range(100, 100 + times):
        start = UPTIME()
        work(number)
        taken.append(UPTIME() - start)
    return statistics.median(taken) * 1e6


def bare_flask() -> float:
    """A Flask route that gives a constant, by raw WSGI."""
    app = Flask("bare")

    @app.get("/12/accounts/<account>/account_media")
    def media(account: str) -> dict[str, str]:
        return {"id": account}

    environ = EnvironBuilder(f"{ACCOUNT}/account_media").get_environ()
    return median(lambda _: list(app.wsgi_app(dict(environ), lambda *_: None)))


def measure() -> dict[str, float]:
    """Medians in microseconds, by name."""
    platform = Platform()
    known = credentials(platform, platform.worlds.default)
    app, user = known["app"], known["user"]
    signer = Client(
        app["consumer_key"],
        app["consumer_secret"],
        user["access_token"],
        user["access_token_secret"],
    )
    bearer = [("Authorization", f"Bearer {known['bearer_token']}")]

    def signed(path: str) -> list[Call]:
        """Requests that differ in their nonces, signed beforehand."""
        return [_call(path, list(signer.sign(HOST + path)[1].items())) for _ in range(ROUNDS + 100)]

    one, page = f"{ACCOUNT}/account_media/2pzo", f"{ACCOUNT}/account_media?count=9"
    signed_one, signed_page = signed(one), signed(page)
    wsgi = create_app(platform).wsgi_app
    hooked = create_app(platform)
    hooked.before_request(lambda: None)
    environ = EnvironBuilder(one, headers=dict(bearer)).get_environ()
    return {
        "bare Flask application, raw WSGI": bare_flask(),
        "signed read of one record, below the edge": median(
            lambda number: platform.handle(signed_one[number])
        ),
        "signed list of nine records, below the edge": median(
            lambda number: platform.handle(signed_page[number])
        ),
        "bearer read of one record, below the edge": median(
            lambda _: platform.handle(_call(one, bearer))
        ),
        "bearer read of one record, raw WSGI": median(
            lambda _: list(wsgi(dict(environ), lambda *_: None))
        ),
        "bearer read of one record, by way of a hook": median(
            lambda _: list(hooked.wsgi_app(dict(environ), lambda *_: None))
        ),
        "unknown path, each another, below the edge": median(
            lambda number: platform.handle(_call(f"/12/acounts/{_letters(number)}", [])), 200
        ),
        "unknown path, asked again, below the edge": median(
            lambda _: platform.handle(_call("/12/acounts", [])), 200
        ),
    }


def _call(target: str, headers: list[tuple[str, str]]) -> Call:
    parts = urlsplit(target)
    return Call("GET", HOST + target, parts.path, HOST, headers, query_string=parts.query)


def _letters(number: int) -> str:
    """A word of its own for each number; digits would make it an id, and all paths one."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def main() -> None:
    """Print the table."""
    found = measure()
    bare = found["bare Flask application, raw WSGI"]
    for name, value in found.items():
        print(f"{name:48} {value:9.1f} us  x{value / bare:5.2f}")


if __name__ == "__main__":
    main()
