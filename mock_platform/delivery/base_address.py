"""The base address of another server that a user names: only what signed requests may go to."""

from __future__ import annotations

from urllib.parse import urlsplit

from mock_platform.settings import Settings


class BadBaseUrl(ValueError):
    """An address to which signed requests should not be sent."""


def check_base_url(base_url: str) -> str:
    """Returns a base address without a slash at its end.

    Raises:
        BadBaseUrl: It is not an address, has more than scheme, host and path, or would send
            credentials unencrypted beyond this machine.
    """
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError as fault:
        raise BadBaseUrl(f"{base_url!r} is no address: {fault}") from fault
    if parts.scheme not in {"http", "https"} or not host:
        raise BadBaseUrl(
            f"{base_url!r} is no base address: give one such as https://api.example.com"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise BadBaseUrl("A base address has no user, query or fragment, only scheme, host, path.")
    if parts.scheme == "http" and not Settings().is_local(host):
        raise BadBaseUrl(f"{host} is another machine, so credentials go there over https only.")
    return base_url.rstrip("/")
