from __future__ import annotations

import gc
import os
import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from mock_platform.serving.http.tls import AuthorityUnreadable, TlsMaterial
from mock_platform.world.clock import machine_now


def certificate(path: Path) -> x509.Certificate:
    """The first certificate of a file."""
    return x509.load_pem_x509_certificate(path.read_bytes())


def names(material: TlsMaterial) -> list[str]:
    """The names in the server certificate."""
    found = certificate(material.certificate).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    return [str(name.value) for name in found.value]


def authority(ends: datetime) -> bytes:
    """An authority with its key, as a file holds them, that ends at a moment."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Old authority")])
    own = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(ends)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return pem + own.public_bytes(Encoding.PEM)


def mode(path: Path) -> int:
    """A file's permissions."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("asked", "more"),
    [
        (["sandbox.test", "10.1.2.3", "localhost"], ["sandbox.test", "10.1.2.3"]),
        (["0.0.0.0", "::", ""], []),
    ],
)
def test_loopback_is_always_covered(tmp_path: Path, asked: list[str], more: list[str]) -> None:
    """Both loopback addresses, localhost and the hosts asked for; a wildcard is no name."""
    material = TlsMaterial.generate(asked, tmp_path)

    assert ["127.0.0.1", "::1", "localhost", *more] == names(material)
    assert tuple(names(material)) == material.hosts


def test_keys_are_private(tmp_path: Path) -> None:
    """What holds a key is readable by its owner only, whatever the umask; `ca.pem` by everyone."""
    before = os.umask(0)
    try:
        material = TlsMaterial.generate(directory=tmp_path / "new" / "folder")
    finally:
        os.umask(before)

    assert 0o600 == mode(material.certificate)
    assert 0o600 == mode(material.ca.with_name("authority.pem"))
    assert 0o644 == mode(material.ca)
    assert b"PRIVATE KEY" not in material.ca.read_bytes()
    assert 0o700 == mode(tmp_path / "new" / "folder")


def test_the_files_are_where_they_are_looked_for(tmp_path: Path) -> None:
    """`ca.pem` and `server.pem` are in the folder, and no draft is left with them."""
    material = TlsMaterial.generate(directory=tmp_path)

    assert (tmp_path / "ca.pem", tmp_path / "server.pem") == (material.ca, material.certificate)
    assert {"authority.pem", "ca.pem", "server.pem"} == {path.name for path in tmp_path.iterdir()}


def test_an_authority_is_used_again(tmp_path: Path) -> None:
    """Trusting it once is enough: a second start signs a new certificate with the same one."""
    first = TlsMaterial.generate(directory=tmp_path)
    trusted, served = first.ca.read_bytes(), first.certificate.read_bytes()
    second = TlsMaterial.generate(["other.test"], tmp_path)

    assert trusted == second.ca.read_bytes()
    assert served != second.certificate.read_bytes()
    certificate(second.certificate).verify_directly_issued_by(certificate(first.ca))


def test_a_lost_ca_file_is_written_again(tmp_path: Path) -> None:
    """`ca.pem` is only a copy; deleting it loses nothing."""
    first = TlsMaterial.generate(directory=tmp_path)
    trusted = first.ca.read_bytes()
    first.ca.unlink()

    assert trusted == TlsMaterial.generate(directory=tmp_path).ca.read_bytes()


@pytest.mark.parametrize(("days", "kept"), [(-1, False), (397, False), (398, True)])
def test_an_authority_that_ends_too_soon_is_replaced(
    tmp_path: Path, days: int, *, kept: bool
) -> None:
    """It must outlive a server certificate made now, which lasts 397 days."""
    old = authority(machine_now() + timedelta(days=days, minutes=-1 if days == 397 else 0))
    (tmp_path / "authority.pem").write_bytes(old)
    material = TlsMaterial.generate(directory=tmp_path)

    subject = certificate(material.ca).subject.rfc4514_string()
    assert kept == (subject == "CN=Old authority")
    certificate(material.certificate).verify_directly_issued_by(certificate(material.ca))


def test_a_server_certificate_is_of_a_length_that_clients_accept(tmp_path: Path) -> None:
    """It holds now and ends within 398 days, beyond which some systems refuse it."""
    served = certificate(TlsMaterial.generate(directory=tmp_path).certificate)

    assert served.not_valid_before_utc < machine_now()
    assert served.not_valid_after_utc - machine_now() < timedelta(days=398)
    assert served.not_valid_after_utc - machine_now() > timedelta(days=396)


@pytest.mark.parametrize("text", ["", "not a certificate", "-----BEGIN CERTIFICATE-----\n"])
def test_an_unreadable_authority_is_not_overwritten(tmp_path: Path, text: str) -> None:
    """A file that cannot be read is left as it is, and the text says what to do."""
    path = tmp_path / "authority.pem"
    path.write_text(text)
    with pytest.raises(AuthorityUnreadable) as caught:
        TlsMaterial.generate(directory=tmp_path)

    assert str(caught.value) == (
        f"{path} cannot be used as certificate authority: it does not contain a "
        "certificate with private "
        "key. Delete it to get a new one, or choose another folder."
    )
    assert text == path.read_text()


def test_a_key_of_another_authority_is_noticed(tmp_path: Path) -> None:
    """Certificate and key must belong together."""
    ends = machine_now() + timedelta(days=1000)
    mark = b"-----BEGIN CERTIFICATE"
    mixed = authority(ends).split(mark)[0] + mark + authority(ends).split(mark)[1]
    (tmp_path / "authority.pem").write_bytes(mixed)
    with pytest.raises(AuthorityUnreadable, match="its private key belongs to another"):
        TlsMaterial.generate(directory=tmp_path)


def test_without_a_folder_the_files_go_with_the_material() -> None:
    """Temporary files exist as long as the material is in use."""
    material = TlsMaterial.generate()
    folder = material.ca.parent

    assert material.ca.exists()
    assert 0o700 == mode(folder)
    del material
    gc.collect()
    assert not folder.exists()


def test_old_tls_is_not_spoken() -> None:
    """The server's context asks for TLS 1.2 at least and for no client certificate."""
    context = TlsMaterial.generate().server_context()

    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
    assert ssl.CERT_NONE == context.verify_mode


def test_a_second_process_uses_the_authority_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where another process made the authority meanwhile, that one is used."""
    theirs = authority(machine_now() + timedelta(days=1000))
    path, link = tmp_path / "authority.pem", os.link

    def late(source: Path, target: Path) -> None:
        path.write_bytes(theirs)
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    material = TlsMaterial.generate(directory=tmp_path)

    assert theirs == path.read_bytes()
    assert "CN=Old authority" == certificate(material.ca).subject.rfc4514_string()
