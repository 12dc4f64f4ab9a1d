"""OAuth 1.0a: reads a signed request's credentials, and computes its signature (RFC 5849).

Plain functions over plain values. The caller decides which secrets apply, whether the timestamp is
close enough and whether the nonce is new. `oauth1_diagnosis` explains why a signature did not
match.
"""

from __future__ import annotations

import hmac
import re
from binascii import b2a_base64
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import chain
from urllib.parse import quote, unquote

from msgspec import Struct

from mock_platform.core.errors import shorten
from mock_platform.core.pairs import Pairs, decode_pairs

# The HMAC-SHA1 signature of RFC 5849, section 3.4: what is signed, and how. oauthlib has the
# same functions. These take a sixth of the time for what clients usually send, and pass
# everything else to the standard library and to oauthlib. A test checks that the results are
# equal for any text.

_UNRESERVED = re.compile(r"[A-Za-z0-9_.~-]*+", re.ASCII)
_FEW_RESERVED = re.compile(r"[A-Za-z0-9_.~%:/&=-]*+", re.ASCII)
"""The characters of addresses and of normalized parameters."""
_USUAL_ADDRESS = re.compile(
    r"https?://[a-z0-9.-]+(?::(?:[1-9][0-9]{3}|[1-5][0-9]{4}))?"
    r"/[A-Za-z0-9_.~%/:@!$&'()*+,=-]*+(?=\?|\Z)",
    re.ASCII,
)
"""An address that equals its base string URI, up to its query."""


def escape(text: str) -> str:
    """Return the percent-encoded text (3.6): only letters, digits and `-._~` stay."""
    if _UNRESERVED.fullmatch(text):
        # Three ways that all return the same. Most texts need no encoding at all. Of the rest, base
        # strings and addresses have a few reserved characters only, for which replacing is faster
        # than the library, which looks at each character; "%" has to be the first one replaced, or
        # it would be encoded twice.
        return text
    if _FEW_RESERVED.fullmatch(text):
        text = text.replace("%", "%25").replace(":", "%3A").replace("/", "%2F")
        return text.replace("&", "%26").replace("=", "%3D")
    return quote(text, safe="~")


def normalize(parameters: Sequence[tuple[str, str]]) -> str:
    """Return the normalized request parameters (3.4.1.3.2) of decoded pairs."""
    if not _UNRESERVED.fullmatch("".join(chain.from_iterable(parameters))):
        parameters = [(escape(name), escape(value)) for name, value in parameters]
    return "&".join([f"{name}={value}" for name, value in sorted(parameters)])


def base_string_uri(url: str) -> str:
    """Return the base string URI (3.4.1.2) of an absolute address.

    Raises:
        ValueError: The address has no host, or a port that cannot exist.
    """
    # The pattern accepts only addresses in which nothing would have to be changed: lower-case host,
    # no default port, no characters to encode. Everything else goes to the library, which knows all
    # rules.
    usual = _USUAL_ADDRESS.match(url)
    if usual is not None:
        return usual[0]
    from oauthlib.oauth1.rfc5849 import signature as rfc5849  # most servers never need it

    return rfc5849.base_string_uri(url)


def base_string(method: str, address: str, normalized: str) -> str:
    """Return the base string (3.4.1.1) of a base string URI and normalized parameters."""
    return f"{escape(method.upper())}&{escape(address)}&{escape(normalized)}"


def sign(base: str, consumer_secret: str, token_secret: str) -> bytes:
    """Return the signature (3.4.2) of a base string, in base64; the token secret may be empty."""
    # The "&" is there even without a token secret; leaving it out is a common mistake of clients,
    # which the diagnosis recognises.
    key = f"{escape(consumer_secret)}&{escape(token_secret)}".encode()
    return b2a_base64(hmac.digest(key, base.encode(), "sha1"), newline=False)


SIGNATURE_METHOD = "HMAC-SHA1"
"""The only signature method (spec A, Authentication)."""

VERSION = "1.0"
"""The only value of oauth_version (spec A, Authentication)."""

_REQUIRED = (
    "oauth_consumer_key",
    "oauth_signature_method",
    "oauth_signature",
    "oauth_timestamp",
    "oauth_nonce",
)

VARIANTS_OF_VERSION = ("1.0A", "1.0a")
"""The callback in the manual of node's most used client, and the same in lower case."""

MAX_NONCE_CHARACTERS = 255
"""Pattern of a nonce."""

_ITEM = re.compile(
    r"""\s*+(?:([^\s=,"]++)\s*+=\s*+(?:"([^"]*+)"|([^\s",]*+)))?\s*+(?:,|$)""", re.ASCII
)
"""One item of the header's list. Every repetition of a character is possessive, so any text costs
at most two passes. Groups are not: Python before 3.11.5 matches possessive groups wrongly.
"""

_USUAL_LIST = re.compile(r'(?:[a-z_]++="[^"]*+"(?:, ?|\Z))+', re.ASCII)
_USUAL_ITEM = re.compile(r'([a-z_]++)="([^"]*+)"', re.ASCII)
"""A list in the form of almost all clients, which is read in one step, and one item of it."""

_TIMESTAMP = re.compile(r"[0-9]{1,19}", re.ASCII)


class MalformedAuthorization(ValueError):
    """The OAuth parameters of a request are incomplete or contradict the specification.

    `parameter` is the cause: an OAuth parameter, or the header `Authorization` or `Host`. `message`
    says what was wrong, where, and what to do.
    """

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(message)
        self.parameter = parameter
        self.message = message


class SignedRequest(Struct, frozen=True):
    """The parts of a request that a signature covers, as they arrived."""

    method: str
    url: str
    """The absolute address that the client called: world prefix and query included."""
    authorization: str | None
    """The value of the `Authorization` header."""
    form: str | None
    """The decoded body if its type is `application/x-www-form-urlencoded`."""
    body: str | None = None
    """The decoded body of any other type: never signed, used only to explain a mistake."""

    @property
    def query(self) -> str:
        """The query of the address as it arrived, still encoded."""
        return self.url.partition("#")[0].partition("?")[2]


class Credentials(Struct, frozen=True):
    """The OAuth parameters of one request, and everything that its signature was made from.

    Parameters are decoded pairs in the order in which they arrived, without `oauth_signature` and
    the header's `realm`.
    """

    consumer_key: str
    token: str | None
    """`None` if the request has no token, or an empty one, as some clients send before they have a
    token.
    """
    signature: str
    nonce: str
    timestamp: int
    """Seconds since 1970."""
    callback: str | None
    verifier: str | None
    realm: str | None
    address: str
    """The base string URI (RFC 5849, 3.4.1.2): no query, no default port, host in lower case."""
    query: tuple[tuple[str, str], ...]
    form: tuple[tuple[str, str], ...]
    header: tuple[tuple[str, str], ...]

    @property
    def parameters(self) -> Pairs:
        """All signed parameters, each as often as it was sent."""
        return [*self.query, *self.form, *self.header]

    @property
    def merged_parameters(self) -> Pairs:
        """The same, but an OAuth parameter that is in two places counts once."""
        return merge_repeated(self.parameters)


def parse(request: SignedRequest) -> Credentials | None:
    """Return the credentials of a signed request; `None` for a request without any.

    OAuth parameters may be in the header, the query and the form body. A parameter in two of them
    is accepted if both values are equal, because real clients repeat `oauth_token`,
    `oauth_callback` and `oauth_verifier` (spec A, Authentication).

    Raises:
        MalformedAuthorization: A parameter is missing, wrong, repeated or contradictory, or the
            header or the address cannot be read.
    """
    # The fast case first: all OAuth parameters in the header, each once, and nothing else in it.
    # Then a dictionary is enough. Only if there are others (`realm`), repeated ones, or OAuth
    # parameters in query or body, are the places compared with each other.
    listed = authorization_parameters(request.authorization)
    header = listed or []
    query = decode_pairs(_replace_surrogates(request.query))
    form = decode_pairs(_replace_surrogates(request.form)) if request.form else []
    realm: str | None = None
    protocol = dict(header)
    others = [name for name, _ in header if not name.startswith("oauth_")]
    elsewhere = [name for name, _ in (*query, *form) if name.startswith("oauth_")]
    if others or elsewhere or len(protocol) < len(header):  # most clients use the header alone
        protocol = _protocol_parameters(header, query, form)
        realm = next((value for name, value in header if name.lower() == "realm"), None)
        header = [pair for pair in header if pair[0].lower() != "realm"]
    if listed is None and not protocol:
        return None
    _check(protocol)
    return Credentials(
        consumer_key=protocol["oauth_consumer_key"],
        token=protocol.get("oauth_token") or None,
        signature=protocol["oauth_signature"],
        nonce=protocol["oauth_nonce"],
        timestamp=int(protocol["oauth_timestamp"]),
        callback=protocol.get("oauth_callback"),
        verifier=protocol.get("oauth_verifier"),
        realm=realm,
        address=_address(request.url),
        query=_remove_signature(query),
        form=_remove_signature(form),
        header=_remove_signature(header),
    )


def verify(
    request: SignedRequest, credentials: Credentials, consumer_secret: str, token_secret: str
) -> bool:
    """Return whether the signature was made with these secrets (token secret may be empty).

    Two base strings are accepted: that of RFC 5849 and, if an OAuth parameter is in two places, the
    one that counts it once, because clients that merge all parameters into one object sign that.
    """
    # First as the standard says: each parameter as often as it was sent. The second reading is
    # tried only if it differs, so it costs nothing to clients that send each parameter once.
    # `compare_digest` takes the same time wherever the texts differ, so that time does not reveal
    # the signature.
    secrets = consumer_secret, token_secret
    given = credentials.signature.encode()
    parameters = credentials.parameters
    if hmac.compare_digest(_sign(request, credentials, parameters, secrets), given):
        return True
    merged = credentials.merged_parameters
    if len(merged) == len(parameters):
        return False
    return hmac.compare_digest(_sign(request, credentials, merged, secrets), given)


def authorization_parameters(authorization: str | None) -> Pairs | None:
    """Return the decoded pairs of an OAuth header, with `realm`; `None` for other headers.

    oauthlib's parser makes a dictionary, which would hide that a parameter occurs twice. It also
    reads character by character, which costs as much as the rest of this module.

    Raises:
        MalformedAuthorization: An item of the list has another form.
    """
    scheme, _, rest = (authorization or "").strip().partition(" ")
    if scheme.lower() != "oauth":
        return None
    rest = _replace_surrogates(rest)
    if _USUAL_LIST.fullmatch(rest):
        return [
            (name, _unescape(value) if "%" in value else value)
            for name, value in _USUAL_ITEM.findall(rest)
        ]
    pairs: Pairs = []
    place, end = 0, 0
    while end < len(rest):
        place += 1
        item = _ITEM.match(rest, end)
        if item is None:
            raise MalformedAuthorization(
                "Authorization",
                f'item {place} of the Authorization header is not of the form name="value"; '
                "separate parameters with commas and percent-encode names and values",
            )
        name, quoted, bare = item.groups()
        if name is not None:
            value = bare if quoted is None else quoted
            if "%" in value:
                value = unquote(value)
            pairs.append((unquote(name) if "%" in name else name, value))
        end = item.end()
    return pairs


def merge_repeated(parameters: Pairs) -> Pairs:
    """Return the parameters; an OAuth parameter that is in two places counts once."""
    seen: set[tuple[str, str]] = set()
    merged: Pairs = []
    for pair in parameters:
        if pair[0].startswith("oauth_"):
            if pair in seen:
                continue
            seen.add(pair)
        merged.append(pair)
    return merged


def quote_text(text: str, limit: int = 60) -> str:
    """Return a client's text for use in a message: quoted, and cut if it is long."""
    return repr(shorten(text, limit))


def _sign(
    request: SignedRequest, credentials: Credentials, parameters: Pairs, secrets: tuple[str, str]
) -> bytes:
    base = base_string(request.method, credentials.address, normalize(parameters))
    return sign(base, *secrets)


def _unescape(text: str) -> str:
    """Return the percent-decoded text; base64 needs no search for other bytes."""
    base64 = text.replace("%3D", "=").replace("%2B", "+").replace("%2F", "/")
    return unquote(text) if "%" in base64 else base64


def _remove_signature(pairs: Pairs) -> tuple[tuple[str, str], ...]:
    return tuple([pair for pair in pairs if pair[0] != "oauth_signature"])


def _protocol_parameters(header: Pairs, query: Pairs, form: Pairs) -> dict[str, str]:
    """Return the `oauth_` parameters of all places by name."""
    # Within one place a name may occur once. Between places it may be repeated with the same value,
    # which real clients do; another value would leave open which one counts, so it is refused, with
    # both places named.
    found: dict[str, str] = {}
    where: dict[str, str] = {}
    for place, pairs in (("Authorization header", header), ("query", query), ("body", form)):
        in_header = place == "Authorization header"
        names: set[str] = set()
        for name, value in pairs:
            protocol = name.startswith("oauth_")
            if not protocol and not in_header:
                continue
            if name in names:
                raise MalformedAuthorization(
                    name, f"{quote_text(name)} occurs twice in the {place}; send it once"
                )
            names.add(name)
            if not protocol:
                continue
            if found.setdefault(name, value) != value:
                raise MalformedAuthorization(
                    name,
                    f"{quote_text(name)} in the {place} differs from the one in the {where[name]}; "
                    "send it in one place, or the same value in both",
                )
            where.setdefault(name, place)
    return found


def _check(protocol: dict[str, str]) -> None:
    """Refuse missing or wrong parameters; the most helpful message comes first."""
    # Missing parameters come first: a misspelled name is the usual reason, and the message for that
    # is better than "the timestamp is no number". Then what is fixed (method, version), then the
    # form of what varies.
    for name in _REQUIRED:
        if not protocol.get(name):
            raise MalformedAuthorization(name, _explain_missing(name, protocol))
    method = protocol["oauth_signature_method"]
    if method != SIGNATURE_METHOD:
        raise MalformedAuthorization(
            "oauth_signature_method",
            f"oauth_signature_method {quote_text(method)} is not supported; sign with HMAC-SHA1 "
            "and write it exactly so",
        )
    version = protocol.get("oauth_version", VERSION)
    if version not in {VERSION, *VARIANTS_OF_VERSION}:
        raise MalformedAuthorization(
            "oauth_version", f"oauth_version must be 1.0 or left out, got {quote_text(version)}"
        )
    timestamp = protocol["oauth_timestamp"]
    if _TIMESTAMP.fullmatch(timestamp) is None or not int(timestamp):
        raise MalformedAuthorization(
            "oauth_timestamp",
            "oauth_timestamp must be a positive whole number of seconds since 1970 in ASCII "
            f"digits, at most 19 of them, got {quote_text(timestamp)}",
        )
    nonce = protocol["oauth_nonce"]
    if not nonce.isascii():
        raise MalformedAuthorization(
            "oauth_nonce", f"oauth_nonce accepts ASCII characters only, got {quote_text(nonce)}"
        )
    if len(nonce) > MAX_NONCE_CHARACTERS:
        raise MalformedAuthorization(
            "oauth_nonce",
            f"oauth_nonce has {len(nonce)} characters; at most {MAX_NONCE_CHARACTERS} are allowed",
        )


def _explain_missing(name: str, protocol: dict[str, str]) -> str:
    if name in protocol:
        return f"{name} is empty; give it a value"
    text = f"{name} is missing; send it in the Authorization header"
    # Only names with no other meaning can be misspellings of this one.
    known = {
        "oauth_consumer_key", "oauth_nonce", "oauth_signature", "oauth_signature_method",
        "oauth_timestamp", "oauth_token", "oauth_version", "oauth_callback", "oauth_verifier",
    }  # fmt: skip
    near = get_close_matches(name, protocol.keys() - known, n=1, cutoff=0.75)
    return f"{text} (did you mean it by {quote_text(near[0])}?)" if near else text


def _address(url: str) -> str:
    try:
        return base_string_uri(_replace_surrogates(url))
    except ValueError as fault:
        raise MalformedAuthorization(
            "Host",
            f"the called address cannot be signed ({fault}); send a Host header that names a host "
            "and, if it is not the default one, a port",
        ) from fault


def _replace_surrogates(text: str) -> str:
    """Return the text with `?` in place of lone surrogates, which no client can have signed."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
