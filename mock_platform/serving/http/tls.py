"""A local certificate authority and a server certificate that it signed.

The authority stays in its folder and is used again, so clients that trust it once trust every later
server. Server certificates are new at each start.
"""

from __future__ import annotations

import os
import shutil
import ssl
import tempfile
import weakref
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from mock_platform.core.installed import require_extra
from mock_platform.world.clock import machine_now

if TYPE_CHECKING:
    from trustme import CA

_ALWAYS = ("127.0.0.1", "::1", "localhost")
_WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104 - compared with, not bound to
_SERVER_DAYS = 397
_AUTHORITY_MARGIN = timedelta(days=_SERVER_DAYS)


class AuthorityUnreadable(Exception):
    """The folder's `authority.pem` is not a certificate with its private key."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path} cannot be used as certificate authority: {reason}. "
            f"Delete it to get a new one, or choose another folder."
        )
        self.path = path
        self.reason = reason


class TlsMaterial:
    """The files that a TLS server and its clients need.

    `ca` is the file that clients must trust: `REQUESTS_CA_BUNDLE`, `NODE_EXTRA_CA_CERTS`, `curl
    --cacert`. `certificate` contains the server's private key and certificate, `hosts` are its
    names and addresses. `authority.pem`, in the same folder, contains the authority's private key:
    with it, anyone can impersonate any host towards those who trust `ca`, so it and `certificate`
    are readable by their owner only.
    """

    def __init__(self, ca: Path, certificate: Path, hosts: tuple[str, ...]) -> None:
        self.ca = ca
        self.certificate = certificate
        self.hosts = hosts

    @classmethod
    def generate(cls, hosts: Sequence[str] = (), directory: Path | None = None) -> TlsMaterial:
        """Return a certificate for 127.0.0.1, ::1, localhost and `hosts`, and its authority.

        An authority in `directory` is used again unless it expires before a new server certificate
        (397 days). Without `directory` everything is new, and its files are deleted when the
        material is no longer used. Wildcard addresses such as 0.0.0.0 are not names and are left
        out.

        Raises:
            AuthorityUnreadable: `directory` contains an `authority.pem` that cannot be read.
            MissingExtra: The package was installed without the extra `tls`.
            OSError: `directory` cannot be created or written.
        """
        require_extra("--tls", "tls", "trustme")
        folder = directory or Path(tempfile.mkdtemp(prefix="mock-platform-tls-"))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        names = tuple(dict.fromkeys([*_ALWAYS, *(h for h in hosts if h not in _WILDCARDS)]))
        authority = _authority(folder)
        now = machine_now()
        leaf = authority.issue_cert(
            *names,
            organization_name="mock-platform",
            common_name="mock-platform server",
            not_before=now - timedelta(days=1),
            not_after=now + timedelta(days=_SERVER_DAYS),
        )
        material = cls(folder / "ca.pem", folder / "server.pem", names)
        _write(material.ca, authority.cert_pem.bytes(), mode=0o644)
        _write(material.certificate, leaf.private_key_and_cert_chain_pem.bytes(), mode=0o600)
        if directory is None:
            weakref.finalize(material, shutil.rmtree, folder, ignore_errors=True)
        return material

    def server_context(self, *, http2: bool = False) -> ssl.SSLContext:
        """Return the TLS settings of a server, which may offer HTTP/2.

        Clients need no certificate.
        """
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        # Some systems leave the choice to their configuration of OpenSSL.
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(self.certificate)
        if http2:
            context.set_alpn_protocols(["h2", "http/1.1"])
        return context


def _authority(folder: Path) -> CA:
    """Return the folder's authority; make a new one if it is missing or expires too soon."""
    import trustme  # 26 ms that servers without TLS do not pay

    path = folder / "authority.pem"
    if path.exists():
        authority, ends_well = _read(path)
        if ends_well:
            return authority
        path.unlink(missing_ok=True)
    made = trustme.CA(
        organization_name="mock-platform",
        organization_unit_name="Sandbox certificate authority",
    )
    pem = made.private_key_pem.bytes() + made.cert_pem.bytes()
    if _write_once(path, pem):
        return made
    return _read(path)[0]


def _read(path: Path) -> tuple[CA, bool]:
    import trustme  # as above
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    pem = path.read_bytes()
    try:
        certificate = x509.load_pem_x509_certificate(pem)
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError) as fault:
        raise AuthorityUnreadable(
            path, "it does not contain a certificate with private key"
        ) from fault
    if key.public_key() != certificate.public_key():
        raise AuthorityUnreadable(path, "its private key belongs to another certificate")
    ends_well = certificate.not_valid_after_utc > machine_now() + _AUTHORITY_MARGIN
    return trustme.CA.from_pem(pem, pem), ends_well


def _write(path: Path, data: bytes, *, mode: int) -> None:
    """Replace a file as a whole: a reader sees the old or the new one."""
    draft = _draft(path, data, mode)
    draft.replace(path)


def _write_once(path: Path, data: bytes) -> bool:
    """Create a private file as a whole, unless another process was first."""
    draft = _draft(path, data, 0o600)
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    finally:
        draft.unlink()
    return True


def _draft(path: Path, data: bytes, mode: int) -> Path:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    draft = Path(name)
    draft.chmod(mode)
    return draft
