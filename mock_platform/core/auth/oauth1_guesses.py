"""Wrong ways to sign a request, I: with another key, for another method or another address."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, permutations, product
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct

from mock_platform.core.auth.oauth1 import Credentials, SignedRequest, escape, normalize, quote_text
from mock_platform.core.pairs import Pairs

_MAX_PAIRED = 24
_MAX_HOSTS = 8
_MAX_ADDRESS_CHARACTERS = 200
_METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD")
_WORLD_PREFIX = re.compile(r"\A/~[^/]+")
_SANDBOX_PREFIX = re.compile(r"\A/sandbox(?=/|\Z)")
_AUTHORITY = re.compile(r"(?:[^@]*@)?(\[[^\]]*\]|[^:]*)(?::(\d*))?", re.ASCII)
_DEFAULT_PORTS = {"http": "80", "https": "443"}


class Guess(NamedTuple):
    """One wrong way to sign: the mistake, the signed text, and the key."""

    mistake: str
    base: str
    key: str
    what: str = ""
    """The words that the explanation of the mistake needs: a name, a label, an address."""


class Case(Struct, frozen=True):
    """One reading of a request, and what the server signs under it."""

    request: SignedRequest
    credentials: Credentials
    consumer_secret: str
    token_secret: str
    reading: Callable[[Pairs], Pairs]
    """Return parameters unchanged, or count OAuth parameters that are in two places once."""
    pairs: Pairs
    normalized: str
    address: str
    """Percent-encoded as in the base string, like the parameters."""
    parameters: str
    key: str

    def guess(
        self,
        mistake: str,
        what: str = "",
        *,
        method: str | None = None,
        address: str | None = None,
        parameters: str | None = None,
        key: str | None = None,
    ) -> Guess:
        """Return the signed text for these parts, which are encoded as in the base string."""
        method = self.request.method.upper() if method is None else method
        address = self.address if address is None else address
        parameters = self.parameters if parameters is None else parameters
        base = f"{method}&{address}&{parameters}"
        return Guess(mistake, base, self.key if key is None else key, what)

    def guess_pairs(self, mistake: str, pairs: Pairs, what: str = "") -> Guess:
        """Return the signed text for these parameters."""
        return self.guess(mistake, what, parameters=escape(normalize(pairs)))

    def read(self, *places: Iterable[tuple[str, str]]) -> Pairs:
        """Return the parameters of these places, one place after the other."""
        return self.reading([pair for place in places for pair in place])


def oauth_only(pairs: Iterable[tuple[str, str]]) -> Pairs:
    """Return those of the pairs that are OAuth parameters."""
    return [pair for pair in pairs if pair[0].startswith("oauth_")]


def keys(case: Case) -> Iterator[Guess]:
    """Keys that are made wrongly from the correct secrets."""
    # Each guess costs one hash of the base string, and keys change nothing in it, so these are the
    # cheapest. Libraries that build the key by hand make all of these mistakes.
    raw_consumer, raw_token = case.consumer_secret, case.token_secret
    consumer, token = escape(raw_consumer), escape(raw_token)
    yield case.guess("token-secret-missing", key=f"{consumer}&")
    yield case.guess("consumer-secret-missing", key=f"&{token}")
    yield case.guess("secrets-swapped", key=f"{token}&{consumer}")
    for key in (consumer + token, raw_consumer + raw_token, consumer, raw_consumer):
        yield case.guess("ampersand-missing", key=key)
    for first, second in ((raw_consumer, raw_token), (consumer, raw_token), (raw_consumer, token)):
        yield case.guess("secrets-not-encoded", key=f"{first}&{second}")
    for before, after in (("", "\n"), ("", "\r\n"), ("", " "), (" ", ""), ('"', '"'), ("'", "'")):
        long_consumer = escape(f"{before}{raw_consumer}{after}")
        long_token = escape(f"{before}{raw_token}{after}")
        for first, second in (
            (long_consumer, long_token),
            (long_consumer, token),
            (consumer, long_token),
        ):
            yield case.guess("secret-not-trimmed", key=f"{first}&{second}")


def other_keys(case: Case, other_secrets: Iterable[tuple[str, str]]) -> Iterator[Guess]:
    """Return the secret of another app or token in place of the correct one."""
    consumer, token = escape(case.consumer_secret), escape(case.token_secret)
    for label, secret in other_secrets:
        other = escape(secret)
        yield case.guess("other-secret", f"{label} as consumer secret", key=f"{other}&{token}")
        yield case.guess("other-secret", f"{label} as token secret", key=f"{consumer}&{other}")


def other_pairs(case: Case, other_secrets: Iterable[tuple[str, str]]) -> Iterator[Guess]:
    """Two other secrets in place of both; only the first few, to limit the combinations."""
    others = [(label, escape(secret)) for label, secret in islice(other_secrets, _MAX_PAIRED)]
    for (first, consumer), (second, token) in permutations(others, 2):
        what = f"{first} as consumer secret and {second} as token secret"
        yield case.guess("other-secret", what, key=f"{consumer}&{token}")


def methods(case: Case) -> Iterator[Guess]:
    """Return the method in lowercase, and other methods."""
    method = case.request.method.upper()
    yield case.guess("method-lowercase", quote_text(method), method=method.lower())
    for other in _METHODS:
        what = f"{other} instead of {quote_text(method)}"
        yield case.guess("other-method", what, method=other)


class _Origin(NamedTuple):
    """Scheme, host and port, with the difference from the called ones."""

    text: str
    encoded: str
    mistake: str
    differences: tuple[str, ...]


class _Path(NamedTuple):
    """A path, with the difference from the called one and further signed text."""

    text: str
    encoded: str
    mistake: str
    differences: tuple[str, ...]
    parameters: str


def addresses(case: Case, canonical_hosts: Sequence[str]) -> Iterator[Guess]:
    """Other origins, other paths, and each combination of them."""
    called = urlsplit(case.credentials.address)
    own = f"{called.scheme}://{called.netloc}"
    origin_called = _Origin(own, escape(own), "", ())
    path_called = _path(called.path, "", "", case.parameters)
    origins, paths = _origins(case, canonical_hosts), _paths(case, called.path)
    address_called = quote_text(case.credentials.address, _MAX_ADDRESS_CHARACTERS)
    for origin, path in (
        *product(origins, [path_called]),
        *product([origin_called], paths),
        *product(origins, paths),
    ):
        address = quote_text(origin.text + path.text, _MAX_ADDRESS_CHARACTERS)
        differences = ", ".join([*origin.differences, *path.differences])
        yield case.guess(
            origin.mistake or path.mistake,
            f"{address} when it called {address_called}: {differences}",
            address=origin.encoded + path.encoded,
            parameters=path.parameters,
        )


def _origins(case: Case, canonical_hosts: Sequence[str]) -> list[_Origin]:
    """Other schemes, hosts and ports, with the fewest differences first."""
    called = urlsplit(case.credentials.address)
    own_host, own_port = _host_and_port(called.netloc)
    written_host, _ = _host_and_port(urlsplit(case.request.url).netloc)
    canonical = [_host_and_port(host.lower()) for host in canonical_hosts[:_MAX_HOSTS]]
    # A client behind a proxy or a port mapping signs the address that it was configured with, and
    # the server sees another. Every combination of scheme, host and port is tried; sorting by the
    # number of differences names the simplest explanation first.
    hosts = [own_host, written_host, "127.0.0.1", "localhost", *[host for host, _ in canonical]]
    ports = [own_port, "", *_DEFAULT_PORTS.values(), *[port for _, port in canonical]]
    origins = []
    for scheme, host, port in product(_DEFAULT_PORTS, dict.fromkeys(hosts), dict.fromkeys(ports)):
        if port in _DEFAULT_PORTS.values() and port not in {own_port, _DEFAULT_PORTS[scheme]}:
            continue
        mistake, differences = "", []
        if scheme != called.scheme:
            mistake = "address-scheme"
            differences.append(f"{scheme} instead of {called.scheme}")
        if port != own_port:
            mistake = "address-port"
            differences.append(f"port {port or 'left out'} instead of {own_port or 'none'}")
        if host.lower() != own_host:
            mistake = "address-host"
            differences.append(f"host {host} instead of {own_host}")
        elif host != own_host:
            mistake = "address-host-case"
            differences.append("host not in lowercase")
        if differences:
            origin = f"{scheme}://{host}:{port}" if port else f"{scheme}://{host}"
            origins.append(_Origin(origin, escape(origin), mistake, tuple(differences)))
    return sorted(origins, key=lambda origin: len(origin.differences))


def _host_and_port(authority: str) -> tuple[str, str]:
    """Return host and port of an authority without its user; the port may be empty."""
    found = _AUTHORITY.fullmatch(authority)
    return (authority, "") if found is None else (found[1], found[2] or "")


def _path(text: str, mistake: str, difference: str, parameters: str) -> _Path:
    # An explanation shows no query, because the signature may be in it.
    differences = (difference,) if difference else ()
    return _Path(text.partition("?")[0], escape(text), mistake, differences, parameters)


def _paths(case: Case, called: str) -> list[_Path]:
    """Other paths, each with further signed text."""
    # Prefixes of the address are this sandbox's own. A client that adds them after signing, for
    # instance by rewriting addresses, has signed the path without them.
    bare = _WORLD_PREFIX.sub("", called)
    prefix = called[: len(called) - len(bare)]
    without_sandbox = _SANDBOX_PREFIX.sub("", bare)
    slash_left_out = called.endswith("/")
    others = [
        (bare or "/", "address-world-prefix", "world prefix left out"),
        (prefix + without_sandbox or "/", "address-sandbox-prefix", "/sandbox left out"),
        (
            without_sandbox or "/",
            "address-sandbox-prefix",
            "world prefix and /sandbox left out",
        ),
        (
            called[:-1] if slash_left_out else f"{called}/",
            "address-trailing-slash",
            f"slash at the end {'left out' if slash_left_out else 'added'}",
        ),
        (unquote(called), "address-path-encoding", "path percent-decoded"),
        (quote(called, safe="/~"), "address-path-encoding", "path percent-encoded again"),
    ]
    paths = [_path(*other, case.parameters) for other in others if other[0] != called]
    query = case.request.query
    if query:
        credentials = case.credentials
        rest = case.read(oauth_only(credentials.query), credentials.form, credentials.header)
        paths += [
            _path(f"{called}?{query}", "query-in-address", "query left in it", parameters)
            for parameters in (case.parameters, escape(normalize(rest)))
        ]
    return paths
