"""`hosts`: what a hosts file needs, so that the platform's names lead to this machine."""

from __future__ import annotations

from mock_platform.edge.hosts import PLATFORM_HOSTS


def hosts_text(more: tuple[str, ...] = ()) -> str:
    """Returns lines for a hosts file, with `more` hosts, and the command that serves them."""
    hosts = (*PLATFORM_HOSTS, *more)
    names = " ".join(f"--public-host {name}" for name in hosts)
    return "\n".join(
        [
            "# Lines for /etc/hosts. Remove them after your tests; --intercept does without them.",
            *(f"127.0.0.1 {name}" for name in hosts),
            "# Serve these names, on the port of https, with a certificate for all of them:",
            f"# mock-platform serve --tls --port 443 {names}",
        ]
    )
