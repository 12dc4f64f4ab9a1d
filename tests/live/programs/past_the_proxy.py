"""Reads one address with each library in its arguments, in the way that goes past the proxy."""

import asyncio
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

ADDRESS = "https://api.x.com/2/openapi.json"


def with_requests() -> int:
    """A session that reads nothing from its environment."""
    import requests

    with requests.Session() as session:
        session.trust_env = False
        return session.get(ADDRESS).status_code


def with_prepared() -> int:
    """A request that was prepared before, which `send` does not lead to a proxy."""
    import requests

    with requests.Session() as session:
        return session.send(requests.Request("GET", ADDRESS).prepare()).status_code


def with_own_file() -> int:
    """A program that names the authorities to trust itself: those that a certain package brings."""
    import ssl
    from http.client import HTTPSConnection

    import certifi

    bundle = Path(certifi.__file__).with_name("cacert.pem")
    connection = HTTPSConnection(
        "api.x.com", context=ssl.create_default_context(cafile=str(bundle))
    )
    connection.request("GET", "/2/openapi.json")
    return connection.getresponse().status


def with_httpx() -> int:
    """A client that reads nothing from its environment."""
    import httpx

    with httpx.Client(trust_env=False) as client:
        return client.get(ADDRESS).status_code


def with_aiohttp() -> int:
    """aiohttp, which looks at a proxy only with an option of its own."""
    import aiohttp

    async def read() -> Any:
        async with aiohttp.ClientSession() as session, session.get(ADDRESS) as answer:
            return answer.status

    return int(asyncio.run(read()))


def with_httplib2() -> int:
    """httplib2 without a proxy."""
    import httplib2

    return int(httplib2.Http(proxy_info=None).request(ADDRESS)[0].status)


def with_pycurl() -> int:
    """Libcurl as a library, with the authorities that it usually gets in Python."""
    import certifi
    import pycurl

    curl = pycurl.Curl()
    curl.setopt(pycurl.URL, ADDRESS)
    curl.setopt(pycurl.PROXY, "")
    curl.setopt(pycurl.CAINFO, certifi.where())
    curl.setopt(pycurl.WRITEDATA, BytesIO())
    curl.perform()
    return int(curl.getinfo(pycurl.RESPONSE_CODE))


for name in sys.argv[1:]:
    print(name, globals()[f"with_{name}"]())
