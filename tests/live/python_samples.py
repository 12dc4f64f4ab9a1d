"""What the platform's published samples do: requests with bearer tokens, rules, pages, waits.

In their form, but not their code: a function signs each request, another asks for one page and
raises an error with status and text; after a 429 it sleeps until the reset in the headers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import requests

HOST = "https://api.x.com/2"
RULES = f"{HOST}/tweets/search/stream/rules"


def bearer_oauth(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Sign a request, as `auth=` of requests."""
    request.headers["Authorization"] = f"Bearer {os.environ['MOCK_PLATFORM_BEARER_TOKEN']}"
    request.headers["User-Agent"] = "v2SamplePython"
    return request


def connect_to_endpoint(url: str, params: dict[str, Any] | None = None) -> Any:
    """Return the JSON of an address; wait once for the reset of a used-up limit."""
    answer = requests.get(url, auth=bearer_oauth, params=params, timeout=30)
    if answer.status_code == 429:
        now = time.time()  # noqa: TID251 - as the samples do
        time.sleep(int(answer.headers["x-rate-limit-reset"]) - now + 1)
        answer = requests.get(url, auth=bearer_oauth, params=params, timeout=30)
    if answer.status_code != 200:
        raise RuntimeError(f"Request returned an error: {answer.status_code} {answer.text}")
    return answer.json()


def list_pages(url: str, token_name: str, **params: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield the data of each page, as long as an answer names the next one."""
    while True:
        page = connect_to_endpoint(url, params)
        yield page.get("data", [])
        if "next_token" not in page["meta"]:
            return
        params[token_name] = page["meta"]["next_token"]


def set_rules(rules: list[dict[str, str]]) -> Any:
    """Replace the rules of the filtered stream."""
    found = connect_to_endpoint(RULES).get("data", [])
    if found:
        body: Any = {"delete": {"ids": [rule["id"] for rule in found]}}
        deleted = requests.post(RULES, auth=bearer_oauth, json=body, timeout=30)
        if deleted.status_code != 200:
            raise RuntimeError(f"Cannot delete rules (HTTP {deleted.status_code}): {deleted.text}")
    answer = requests.post(RULES, auth=bearer_oauth, json={"add": rules}, timeout=30)
    if answer.status_code != 201:
        raise RuntimeError(f"Cannot add rules (HTTP {answer.status_code}): {answer.text}")
    return answer.json()
