"""The environment in which a command trusts the certificate authority of its server."""

from __future__ import annotations

import os
from pathlib import Path

from requests.utils import DEFAULT_CA_BUNDLE_PATH

_BUNDLES = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE")
"""Variables that name the only authorities to trust."""


def trust_variables(ca: Path) -> dict[str, str]:
    """Returns the variables for `ca`, beside those that the command would trust without it.

    `MOCK_PLATFORM_CA` names `ca` alone. The files are made in its folder.
    """
    found = {"MOCK_PLATFORM_CA": str(ca), "NODE_EXTRA_CA_CERTS": str(ca)}
    own = ca.read_text("ascii")
    for name in _BUNDLES:
        usual = Path(os.environ.get(name) or DEFAULT_CA_BUNDLE_PATH)
        if not usual.is_file():  # a folder, to which nothing can be added here
            usual = Path(DEFAULT_CA_BUNDLE_PATH)
        file = ca.with_name(f"{name.lower()}.pem")
        file.write_text(f"{usual.read_text('utf-8')}\n{own}", "utf-8")
        found[name] = str(file)
    return found
