"""Why an OAuth 1.0a signature did not match: the first common mistake that reproduces it.

Guesses (`oauth1_guesses`, `oauth1_parameter_guesses`) sign the request again, each with one
mistake. If the result equals the client's signature, the client made that mistake. The number of
guesses and of signed characters is limited, so that a hostile request costs little more than its
size.
"""

from __future__ import annotations

import binascii
import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import asdict

from mock_platform.core.auth import oauth1_guesses as guesses
from mock_platform.core.auth import oauth1_parameter_guesses as parameter_guesses
from mock_platform.core.auth.oauth1 import (
    Credentials,
    SignedRequest,
    base_string,
    escape,
    merge_repeated,
    normalize,
    quote_text,
    verify,
)
from mock_platform.core.auth.oauth1_guesses import Case, Guess
from mock_platform.world.redact import MASK

MAX_GUESSES = 5_000
"""Maximum number of guesses for one request."""

MAX_CHARACTERS = 2_000_000
"""Maximum number of base string characters that are signed again for one request."""

MAX_PARAMETERS = 50
"""Up to this number, each parameter gets its own guesses."""

MAX_PARAMETERS_CHARACTERS = 4_000
"""Up to this number of characters of normalized parameters, each parameter gets its own guesses."""

MAX_SECRETS = 100
"""Maximum number of secrets of other apps and tokens that are tried."""

_KEY = (
    "the key is the percent-encoded consumer secret, then &, then the percent-encoded token secret"
)

MISTAKES: Mapping[str, str] = MappingProxyType({
    # the signature itself
    "signature-encoded-twice": "The signature is right but was percent-encoded twice; encode it "
    "once.",
    "signature-not-encoded": "The signature is right but was sent without percent-encoding, so "
    "that its + arrived as a space; write + as %2B, / as %2F and = as %3D.",
    "signature-alphabet": "The signature is right but in URL-safe or unpadded base64; use + and / "
    "and keep the = at the end.",
    "signature-hexadecimal": "The client seems to have sent the digest in hexadecimal; send its "
    "bytes in base64.",
    "other-hash": "The client seems to have signed with {what} and said HMAC-SHA1; sign with "
    "HMAC-SHA1.",
    "plaintext": "The client seems to have sent the signing key itself, as PLAINTEXT does; send "
    "the HMAC-SHA1 of the base string under that key.",
    "signature-form": "oauth_signature is not the base64 text of a 20-byte HMAC-SHA1 digest, 28 "
    "characters that end in =; send that, percent-encoded once.",
    # the signing key
    "token-secret-missing": "The client seems to have left the token secret out of the signing "
    f"key; {_KEY}, which belongs to the oauth_token that is sent.",
    "consumer-secret-missing": "The client seems to have left the consumer secret out of the "
    f"signing key; {_KEY}.",
    "secrets-swapped": "The client seems to have put the token secret before the consumer secret; "
    f"{_KEY}.",
    "ampersand-missing": "The client seems to have built the signing key without &; "
    f"{_KEY}, and & stays where there is no token secret.",
    "secrets-not-encoded": "The client seems to have put a secret into the signing key as it is; "
    "percent-encode each before joining them with &.",
    "secret-not-trimmed": "The client seems to have signed with a secret that has a line end, a "
    "space or quotation marks around it; trim what is read from a file or the environment.",
    "other-secret": "The client seems to have used {what}. Use the secrets that were issued with "
    "the consumer key and the token that are sent.",
    # method and address
    "method-lowercase": "The client seems to have signed the method in lowercase; sign {what}.",
    "other-method": "The client seems to have signed the method {what}; sign the one that is sent.",
    **dict.fromkeys(
        (
            "address-host",
            "address-host-case",
            "address-port",
            "address-scheme",
            "address-world-prefix",
            "address-sandbox-prefix",
            "address-trailing-slash",
            "address-path-encoding",
            "query-in-address",
        ),
        "The client seems to have signed the address {what}. Sign the address that is called, "
        "without its query.",
    ),
    # which parameters
    "query-missing": "The client seems to have left the query out of the signature; sign every "
    "parameter that is sent.",
    "body-missing": "The client seems to have left the form body out of the signature; sign every "
    "parameter that is sent.",
    "query-and-body-missing": "The client seems to have left query and form body out of the "
    "signature; sign every parameter that is sent.",
    "parameter-missing": "The client seems to have left the parameter {what} out of the signature; "
    "sign every parameter that is sent, oauth_signature and realm excepted.",
    "empty-values-missing": "The client seems to have left parameters without a value out of the "
    "signature; sign them as name=, or do not send them.",
    "repeated-counted-once": "The client seems to have counted a parameter that stands more than "
    "once only once; sign each occurrence.",
    "counted-twice": "The client seems to have counted {what} twice; sign each parameter as often "
    "as it is sent.",
    "parameter-extra": "The client seems to have signed {what}, which it did not send; sign "
    "exactly the parameters that are sent, without oauth_signature.",
    "realm-signed": "The client seems to have signed the realm of the Authorization header; leave "
    "it out.",
    "json-body-signed": "The client seems to have signed the JSON body; only form bodies are part "
    "of an OAuth 1.0a signature.",
    "form-type-missing": "The client seems to have signed the body as a form but did not declare "
    "it; send Content-Type: application/x-www-form-urlencoded.",
    "plus-not-encoded": "The client seems to have signed a + but sent it as it is, which means a "
    "space in a query or form; send it as %2B.",
    # how parameters are written
    "double-encoded": "The client seems to have percent-encoded {what} twice; encode once before "
    "sorting, and once more only the whole for the base string.",
    "not-encoded": "The client seems not to have percent-encoded {what}; encode each name and "
    "value before sorting, and the whole once more for the base string.",
    "space-as-plus": "The client seems to have written spaces as + in the base string; write them "
    "as %20.",
    "reserved-characters": "The client seems to have encoded another set of characters; leave "
    "letters, digits and -._~ alone and percent-encode everything else, !*'() and / included.",
    "lowercase-hex": "The client seems to have percent-encoded with lowercase digits, as in %2f; "
    "write %2F.",
    "decoded-twice": "The client seems to have percent-decoded parameters once too often; sign the "
    "values that are sent, percent signs included.",
    # their order
    "values-not-sorted": "The client seems not to have sorted the values of a name that stands "
    "more than once; sort by encoded name, then by encoded value, byte by byte.",
    "sorted-before-encoding": "The client seems to have sorted the parameters before encoding "
    "them; encode first, then sort by name and value, byte by byte.",
    "sorted-ignoring-case": "The client seems to have sorted the parameters without regard to "
    "case; sort byte by byte, capital letters before small ones.",
    "sorted-as-joined": "The client seems to have sorted the joined name=value texts; sort by "
    "encoded name, then by encoded value, and join afterwards.",
    "not-sorted": "The client seems to have signed the parameters {what}; sort all of them "
    "together by encoded name, then by encoded value, byte by byte.",
})  # fmt: skip
"""Every mistake that can be recognised, with its explanation."""


class Diagnosis(Struct, frozen=True):
    """What the server signed, and what the client probably did instead.

    `mistake` is one of `MISTAKES`; `secret` if none of them reproduces the client's signature;
    `None` if the signature is correct. `explanation` is one or two sentences. The base string
    contains the parameters in full, but no secrets and no signature.
    """

    base_string: str
    normalized_parameters: str
    mistake: str | None
    explanation: str

    def as_json(self) -> dict[str, str | None]:
        """Return the diagnosis in the form of the journal."""
        return asdict(self)


def explain(
    request: SignedRequest,
    credentials: Credentials,
    consumer_secret: str,
    token_secret: str,
    other_secrets: Mapping[str, str],
    canonical_hosts: Sequence[str],
) -> Diagnosis:
    """Return the first common mistake that results in the client's signature.

    Args:
        request: The request as it arrived.
        credentials: The result of `parse`.
        consumer_secret: The secret that belongs to its consumer key.
        token_secret: The secret that belongs to its token; empty without a token.
        other_secrets: Secrets of other apps and tokens, each under a label that may be shown, such
            as "the secret of app 7"; the first 100 are tried.
        canonical_hosts: Hosts that a client may have signed for instead of the called one, the real
            interface's for instance, with a port if they have one; the first 8 are tried.
    """
    # If an OAuth parameter is in two places, the client may have counted it once or twice, and it
    # may have made its mistake in either reading. So both are cases, and each guess is tried on
    # both.
    parameters = credentials.parameters
    cases = [_case(request, credentials, consumer_secret, token_secret)]
    merged = credentials.merged_parameters
    if len(merged) < len(parameters):
        cases.append(_case(request, credentials, consumer_secret, token_secret, merge=True))
    normalized = cases[0].normalized
    base = base_string(request.method, credentials.address, normalized)
    mistake: str | None = None
    explanation = "The signature is right."
    if not verify(request, credentials, consumer_secret, token_secret):
        mistake, explanation = _find(cases, other_secrets, canonical_hosts)
    secrets = (consumer_secret, token_secret, *islice(other_secrets.values(), MAX_SECRETS))
    return Diagnosis(
        base_string=_remove_secrets(secrets, base),
        normalized_parameters=_remove_secrets(secrets, normalized),
        mistake=mistake,
        explanation=_remove_secrets(secrets, explanation),
    )


def _remove_secrets(secrets: Iterable[str], text: str) -> str:
    """Return the text without secrets, which a client may have sent as parameters.

    A secret of fewer than 8 characters protects nothing, and removing it could destroy a text that
    contains it by chance.
    """
    # A client that has put a secret in a parameter would find it in the journal otherwise. It may
    # be there as it is, encoded once (normalized parameters), or encoded twice (base string).
    for secret in secrets:
        if len(secret) >= 8:
            once = escape(secret)
            for form in (secret, once, escape(once)):
                text = text.replace(form, MASK)
    return text


def _case(
    request: SignedRequest,
    credentials: Credentials,
    consumer_secret: str,
    token_secret: str,
    *,
    merge: bool = False,
) -> Case:
    pairs = credentials.merged_parameters if merge else credentials.parameters
    normalized = normalize(pairs)
    return Case(
        request=request,
        credentials=credentials,
        consumer_secret=consumer_secret,
        token_secret=token_secret,
        reading=merge_repeated if merge else list,
        pairs=pairs,
        normalized=normalized,
        address=escape(credentials.address),
        parameters=escape(normalized),
        key=f"{escape(consumer_secret)}&{escape(token_secret)}",
    )


def _find(
    cases: list[Case], other_secrets: Mapping[str, str], canonical_hosts: Sequence[str]
) -> tuple[str, str]:
    credentials = cases[0].credentials
    for case in cases:
        # First the signature itself, without any signing: right but encoded twice, in hexadecimal,
        # and so on. A text that is no digest at all cannot be the result of any guess, so that ends
        # the search.
        form = _form(case)
        if form is not None:
            mistake, what = form
            return mistake, MISTAKES[mistake].format(what=what)
    digest = _digest(credentials.signature)
    if digest is None:
        return "signature-form", MISTAKES["signature-form"]
    # Guesses come lazily, the most common mistakes first, and the search ends at the first hit.
    # Both limits count all guesses of all cases together: what a stranger can make the server do
    # with one request is bounded, however many parameters it has.
    signed = 0
    tries = chain.from_iterable(_guesses(it, other_secrets, canonical_hosts) for it in cases)
    for tried, guess in enumerate(tries, 1):
        signed += len(guess.base)
        if tried > MAX_GUESSES or signed > MAX_CHARACTERS:
            return "secret", _blame_secrets(credentials, complete=False)
        if _hmac(guess.base, guess.key) == digest:
            return guess.mistake, MISTAKES[guess.mistake].format(what=guess.what)
    return "secret", _blame_secrets(credentials, complete=all(map(_is_detailed, cases)))


def _guesses(
    case: Case, other_secrets: Mapping[str, str], canonical_hosts: Sequence[str]
) -> Iterator[Guess]:
    """Yield all guesses for one reading of the request, the most common mistakes first."""
    # The order is more than speed: if two mistakes lead to the same signature, the one that comes
    # first is named, so the more likely and the more specific ones come first.
    yield from guesses.keys(case)
    yield from guesses.other_keys(case, islice(other_secrets.items(), MAX_SECRETS))
    yield from parameter_guesses.guess_missing_places(case)
    yield from guesses.methods(case)
    if _is_detailed(case):
        # A repeated parameter that is counted once is also a missing one; the first explains more.
        yield from parameter_guesses.repetitions(case)
        yield from parameter_guesses.guess_missing(case)
        yield from parameter_guesses.encodings(case)
        yield from parameter_guesses.orders(case)
        yield from parameter_guesses.extras(case)
    yield from guesses.addresses(case, canonical_hosts)
    yield from guesses.other_pairs(case, islice(other_secrets.items(), MAX_SECRETS))


def _is_detailed(case: Case) -> bool:
    """Whether the request is small enough to look at each parameter."""
    return len(case.pairs) <= MAX_PARAMETERS and len(case.normalized) <= MAX_PARAMETERS_CHARACTERS


def _blame_secrets(credentials: Credentials, *, complete: bool) -> str:
    tried = (
        "No usual mistake reproduces this signature"
        if complete
        else "The request is too long to try every usual mistake, and none that was tried "
        "reproduces this signature"
    )
    secrets = f"the consumer secret of {quote_text(credentials.consumer_key)}"
    if credentials.token is not None:
        secrets += " or the secret of the oauth_token that is sent"
    return (
        f"{tried}, so most likely {secrets} differs from the one that the client signed with. "
        "Compare the client's secrets with the ones that were issued here, then its base string "
        "with this one, character by character."
    )


def _form(case: Case) -> tuple[str, str] | None:
    """Return the correct digest in a wrong encoding, or another digest named HMAC-SHA1."""
    base, signature = case.guess("").base, case.credentials.signature
    right = _hmac(base, case.key)
    dressed = _base64(right)
    once = unquote(signature)
    matches = {
        "signature-encoded-twice": once != signature and dressed in {once, unquote(once)},
        "signature-not-encoded": dressed == signature.replace(" ", "+"),
        "signature-alphabet": dressed.rstrip("=")
        == signature.rstrip("=").replace("-", "+").replace("_", "/"),
        "signature-hexadecimal": signature.lower() == right.hex()
        or signature == _base64(right.hex().encode()),
        "plaintext": signature in {case.key, f"{case.consumer_secret}&{case.token_secret}"},
    }
    for mistake, matched in matches.items():
        if matched:
            return mistake, ""
    for algorithm in ("sha256", "sha512"):
        other = _hmac(base, case.key, algorithm)
        if signature in {_base64(other), other.hex()}:
            return "other-hash", f"HMAC-{algorithm.upper()}"
    return None


def _hmac(base: str, key: str, algorithm: str = "sha1") -> bytes:
    return hmac.digest(key.encode(), base.encode(), algorithm)


def _base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode()


def _digest(signature: str) -> bytes | None:
    """Return the 20 bytes of the signature; `None` if it is not an HMAC-SHA1 digest in base64."""
    try:
        digest = binascii.a2b_base64(signature.encode(), strict_mode=True)
    except binascii.Error:
        return None
    return digest if len(digest) == 20 else None
