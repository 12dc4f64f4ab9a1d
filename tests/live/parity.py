"""What the caller of requests can see, put so that two ways of making a call can be compared."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPResponse, Retry

Told = dict[str, Any]

_OWN = {"Date", "X-Mock-Request-Id"}
"""Headers whose values two calls never share."""


def direct() -> requests.Session:
    """A session over the network, whatever proxies the environment names."""
    session = requests.Session()
    session.trust_env = False
    return session


def met(call: Callable[[], object]) -> Told:
    """What came of a call: an answer, something else, or what was raised."""
    try:
        made = call()
    except Exception as fault:  # noqa: BLE001 - what it is, is the question
        return {"raised": fault_told(fault)}
    return answer_told(made) if isinstance(made, requests.Response) else {"made": made}


def fault_told(fault: BaseException) -> Told:
    """Everything that an exception says, and those inside it."""
    reason = getattr(fault, "reason", None)
    return {
        "class": f"{type(fault).__module__}.{type(fault).__qualname__}",
        # Of a total timeout what is left is told, to the microsecond.
        "text": re.sub(r"timeout=0\.\d+", "timeout=0.…", str(fault)),
        "errno": getattr(fault, "errno", None),
        "inside": [fault_told(each) for each in fault.args if isinstance(each, BaseException)],
        "reason": fault_told(reason) if isinstance(reason, BaseException) else reason,
        "cause": None if fault.__cause__ is None else fault_told(fault.__cause__),
        "request": getattr(getattr(fault, "request", None), "url", None),
    }


def answer_told(answer: requests.Response, content: object = None) -> Told:
    """Everything that an answer shows, with its content, unless that was looked at already."""
    raw = answer.raw
    assert isinstance(raw, HTTPResponse)
    told: Told = {
        "status": (answer.status_code, answer.reason, answer.ok),
        "headers": [pair for pair in answer.headers.items() if pair[0] not in _OWN],
        "dated": "Date" in answer.headers,
        "url": answer.url,
        "encoding": answer.encoding,
        "next": (answer.is_redirect, answer.links, answer.next and answer.next.url),
        "cookies": sorted((c.name, c.value, c.path, c.domain) for c in answer.cookies),
        "history": [answer_told(each) for each in answer.history],
        "request": (answer.request.method, answer.request.url, dict(answer.request.headers)),
        "adapter": isinstance(getattr(answer, "connection", None), HTTPAdapter),
        "raw": (raw.status, raw.reason, raw.version, raw.version_string, raw.chunked),
        "raw headers": [
            (name, raw.headers.getlist(name)) for name in sorted({*raw.headers} - _OWN)
        ],
        "retries": retries_told(raw.retries),
    }
    told["content"] = answer.content if content is None else content
    told["end"] = (raw.isclosed(), raw.closed, raw.tell(), raw.length_remaining)
    told["given back"] = raw.connection is None
    return told


def retries_told(retries: Retry | None) -> object:
    """What was tried before."""
    if retries is None:
        return None
    return [
        (tried.method, tried.url, tried.error and fault_told(tried.error), tried.status)
        for tried in retries.history
    ]
