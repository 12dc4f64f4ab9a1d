"""`hosts`: what a hosts file needs, so that the platform's names lead to this machine."""

from __future__ import annotations

from mock_platform.edge.hosts import PLATFORM_HOSTS


def hosts_text() -> str:
    """Returns lines for a hosts file, and the command that serves these names."""
    names = " ".join(f"--public-host {name}" for name in PLATFORM_HOSTS)
    return "\n".join(
        [
            "# Lines for /etc/hosts. Remove them after your tests; --intercept does without them.",
            *(f"127.0.0.1 {name}" for name in PLATFORM_HOSTS),
            "# Serve these names, on the port of https, with a certificate for all of them:",
            f"# mock-platform serve --tls --port 443 {names}",
        ]
    )
