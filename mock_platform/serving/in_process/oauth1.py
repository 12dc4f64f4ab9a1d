"""Signs requests with OAuth 1.0a. Its own module, because others do not need oauthlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from oauthlib.oauth1 import Client
from oauthlib.oauth1.rfc5849 import signature as rfc5849
from requests.auth import AuthBase

if TYPE_CHECKING:
    import requests

_FORM = "application/x-www-form-urlencoded"


class OAuth1Auth(AuthBase):
    """Signs each request with OAuth 1.0a, HMAC-SHA1, in the Authorization header."""

    def __init__(
        self, consumer_key: str, consumer_secret: str, token: str, token_secret: str
    ) -> None:
        self._client = _Signer(consumer_key, consumer_secret, token, token_secret)

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Sign a request; only the parameters of a form body are signed, other bodies are not."""
        media_type = str(request.headers.get("Content-Type", "")).partition(";")[0].strip()
        body = None
        headers: dict[str, str] = {}
        if media_type.lower() == _FORM and isinstance(request.body, str | bytes):
            body = request.body.decode() if isinstance(request.body, bytes) else request.body
            headers["Content-Type"] = _FORM
        method: Any = request.method or "GET"
        _, signed, _ = self._client.sign(request.url or "", method, body, headers)
        request.headers["Authorization"] = signed["Authorization"]
        return request


class _Signer(Client):
    """Makes the same signature as oauthlib's client, without writing and parsing a header."""

    def get_oauth_signature(self, request: Any) -> str:
        """Return the signature of a request from its OAuth parameters."""
        query = urlsplit(request.uri).query
        sent = rfc5849.collect_parameters(uri_query=query, body=request.body)
        normalized = rfc5849.normalize_parameters(sent + request.oauth_params)
        address = rfc5849.base_string_uri(request.uri)
        base = rfc5849.signature_base_string(request.http_method, address, normalized)
        return str(rfc5849.sign_hmac_sha1_with_client(base, self))
