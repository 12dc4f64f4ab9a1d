"""Lets programs reach the platform's own hosts here: a proxy, and variables that lead to it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mock_platform.core.installed import require_extra
from mock_platform.core.platform_hosts import PLATFORM_HOSTS, Interception, check_host, read_allowed
from mock_platform.serving.flask.wsgi import Intercepted
from mock_platform.serving.http.binding import reserve
from mock_platform.serving.http.loop_server import LoopCompanion
from mock_platform.serving.http.tls import TlsMaterial
from mock_platform.serving.proxy import ProxyServer, refuse_plain_http
from mock_platform.serving.proxy_in_cluster import ProxyBeside, SharedProxy
from mock_platform.settings import ConnectionSettings
from mock_platform.world.names import DEFAULT

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication


# The environment in which a command trusts the certificate authority of its server.

_BUNDLES = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE")
"""Variables that name the only authorities to trust."""


def trust_variables(ca: Path) -> dict[str, str]:
    """Return the variables for `ca`, beside those that the command would trust without it.

    `MOCK_PLATFORM_CA` names `ca` alone. The files are made in its folder.
    """
    # `run` loads this module, and without TLS needs nothing of requests, which takes 0.1 s.
    from requests.utils import DEFAULT_CA_BUNDLE_PATH

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


_PROXY = ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy")
_DIRECT = ("NO_PROXY", "no_proxy")
_THIS_MACHINE = "localhost,127.0.0.1,::1"
_NODE = Path(__file__).with_name("node_proxy.cjs")
_PYTHON = Path(__file__).with_name("start_up")
"""The folder with what each Python runs at its start."""
_LIBRARIES = ("HTTPLIB2_CA_CERTS", "PERL_LWP_SSL_CA_FILE", "DENO_CERT")
"""Variables of single libraries that name the only authorities to trust."""
_STORE_PASSWORD = "changeit"
OpenProxy = ProxyServer | SharedProxy
"""A proxy of this process, or one that several processes share."""


def open_proxy(
    wsgi: WSGIApplication, world: str, limits: ConnectionSettings, wanted: Interception
) -> ProxyServer:
    """Return a running proxy that answers the platform's hosts in a world. Stop it.

    Raises:
        ValueError: One of the hosts to answer for, or to pass on to, is not a host.
        MissingExtra: The package was installed without the extra `tls`, or `http2` if it is wanted.
    """
    tls, hosts, allowed = _prepare(wanted)
    application = _answer_hosts(wsgi, hosts, allowed, world)
    return ProxyServer(application, tls, hosts, allowed, limits)


def reserve_proxy(wanted: Interception) -> SharedProxy:
    """Return the address of a proxy that several processes run, each with `share_proxy`.

    Raises:
        CannotBind: It cannot listen on this machine.
        MissingExtra: The package was installed without the extra `tls`.
    """
    tls, hosts, allowed = _prepare(wanted)
    reserved, bound = reserve("127.0.0.1", 0)
    return SharedProxy(reserved, bound, tls, hosts, allowed)


def share_proxy(
    shared: SharedProxy,
    wsgi: WSGIApplication,
    limits: ConnectionSettings,
    companion: LoopCompanion,
) -> LoopCompanion:
    """Return what runs a reserved proxy beside the server of this process, and its companion."""
    application = _answer_hosts(wsgi, shared.hosts, shared.allowed, DEFAULT)
    return ProxyBeside(shared, application, limits, companion)


def _prepare(
    wanted: Interception,
) -> tuple[TlsMaterial, tuple[str, ...], tuple[tuple[str, int], ...]]:
    require_extra("--intercept", "tls", "trustme")
    hosts = (*PLATFORM_HOSTS, *map(check_host, wanted.hosts))
    allowed = tuple(one for each in wanted.allow_hosts for one in read_allowed(each))
    return TlsMaterial.generate(hosts), hosts, allowed


def _answer_hosts(
    wsgi: WSGIApplication,
    hosts: tuple[str, ...],
    allowed: tuple[tuple[str, int], ...],
    world: str,
) -> Intercepted:
    return Intercepted(wsgi, hosts, world, lambda host: refuse_plain_http(host, allowed))


def list_variables(proxy: OpenProxy) -> dict[str, str]:
    """Return the variables that lead programs to a proxy, and let them trust its certificates.

    Programs in C and Python read the first ones, other languages have their own. What is set in the
    environment for these is kept.
    """
    host, port = "127.0.0.1", str(proxy.bound.port)
    environ = os.environ
    found = dict.fromkeys(_PROXY, proxy.url)
    for name in _DIRECT:
        own = os.environ.get(name)
        found[name] = f"{own},{_THIS_MACHINE}" if own else _THIS_MACHINE
    found |= trust_variables(proxy.tls.ca)
    found["MOCK_PLATFORM_PROXY"] = proxy.url
    found["MOCK_PLATFORM_HOSTS"] = ",".join(list_led_hosts(proxy))
    found["NODE_OPTIONS"] = _add(environ.get("NODE_OPTIONS"), f'--require "{_NODE}"')
    found["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_PYTHON), environ.get("PYTHONPATH")]))
    found |= {name: found["SSL_CERT_FILE"] for name in _LIBRARIES if not environ.get(name)}
    scan = _make_php_settings(Path(found["SSL_CERT_FILE"]))
    found["PHP_INI_SCAN_DIR"] = f"{environ.get('PHP_INI_SCAN_DIR', '')}{os.pathsep}{scan}"
    settings = {
        "https.proxyHost": host, "https.proxyPort": port,
        "http.proxyHost": host, "http.proxyPort": port,
        "http.nonProxyHosts": "localhost|127.*|[::1]",
        "javax.net.ssl.trustStore": str(_make_java_store(proxy.tls.ca)),
        "javax.net.ssl.trustStorePassword": _STORE_PASSWORD,
    }  # fmt: skip
    java = " ".join(f"-D{name}={value}" for name, value in settings.items())
    found["JAVA_TOOL_OPTIONS"] = _add(os.environ.get("JAVA_TOOL_OPTIONS"), java)
    return found


def list_led_hosts(proxy: OpenProxy) -> list[str]:
    """Return the names that a proxy answers for, without this machine's own."""
    return [name for name in proxy.tls.hosts if name not in _THIS_MACHINE.split(",")]


@contextmanager
def set_variables(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables of this process for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _add(before: str | None, more: str) -> str:
    return f"{before} {more}" if before else more


def _make_php_settings(bundle: Path) -> Path:
    """Return a folder with PHP's settings of whom to trust; an SDK's own file goes before them."""
    folder = bundle.with_name("php")
    folder.mkdir(exist_ok=True)
    text = f'curl.cainfo="{bundle}"\nopenssl.cafile="{bundle}"\n'
    (folder / "mock-platform.ini").write_text(text, "utf-8")
    return folder


def _make_java_store(ca: Path) -> Path:
    """Return a file with the authority in the form in which Java trusts it."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

    certificate = x509.load_pem_x509_certificate(ca.read_bytes())
    store = pkcs12.serialize_java_truststore(
        [pkcs12.PKCS12Certificate(certificate, b"mock-platform")],
        BestAvailableEncryption(_STORE_PASSWORD.encode()),
    )
    file = ca.with_name("truststore.p12")
    file.write_bytes(store)
    return file
