"""The maintained verifier of Pact files, against a sandbox."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mock_platform.core.jsonio import dumps


def verify(pact: dict[str, Any], url: str, folder: Path, only: str | None = None) -> str:
    """Verify a file; returns "" if the server at `url` is as the file says, else what differs.

    `only` restricts it to the interactions of one operation.
    """
    # Once it is loaded, all imports of the process take a detour through it.
    from pact import Verifier

    file = folder / "pact.json"
    file.write_bytes(dumps(pact))
    verifier = Verifier(pact["provider"]["name"], host="127.0.0.1")
    verifier.set_request_timeout(60_000)  # a busy machine is no difference
    verifier.add_source(file).add_transport(url=url)
    verifier.add_transport(
        protocol="message", port=int(url.rpartition(":")[2]), path="/_mock/provider-messages"
    )
    verifier.state_handler(f"{url}/_mock/provider-states", body=True)
    if only is not None:
        verifier.filter(f"^{re.escape(only)} ")
    try:
        verifier.verify()
    except RuntimeError:
        return verifier.output(strip_ansi=True)
    return ""
