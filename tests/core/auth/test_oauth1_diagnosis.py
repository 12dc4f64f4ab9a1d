"""Each usual mistake in signing is recognized, within limits, and no secret is shown."""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.core.auth import oauth1_diagnosis
from mock_platform.core.auth.oauth1 import SignedRequest, parse
from mock_platform.core.auth.oauth1_diagnosis import (
    MAX_CHARACTERS,
    MAX_GUESSES,
    MAX_PARAMETERS,
    MAX_PARAMETERS_CHARACTERS,
    MAX_SECRETS,
    MISTAKES,
    Diagnosis,
    explain,
)
from tests.core.oauth1_mistakes import (
    ALL,
    BASE,
    CONSUMER_SECRET,
    FORM,
    HOSTS,
    O8,
    OAUTH,
    ORIGIN,
    OTHERS,
    PARAMETERS,
    PATH,
    QUERY,
    TOKEN_SECRET,
    C,
    Pairs,
    T,
    Wrong,
    joined,
    percent,
    request,
    signature,
)
from tests.generated import examples


def diagnosis(
    signed: SignedRequest,
    *,
    token_secret: str = TOKEN_SECRET,
    others: dict[str, str] | None = None,
    hosts: Sequence[str] = HOSTS,
) -> Diagnosis:
    """What is reported about a request."""
    credentials = parse(signed)
    assert credentials is not None
    others = OTHERS if others is None else others
    return explain(signed, credentials, CONSUMER_SECRET, token_secret, others, hosts)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.mistake)
def test_mistake_is_told(case: Wrong) -> None:
    """The mistake that a client signed with is named in a sentence or two, with what to do."""
    found = diagnosis(case.signed)

    assert (case.mistake, True) == (found.mistake, case.says in found.explanation)
    assert found.explanation.endswith(".")
    assert len(found.explanation) < 500
    assert "{" not in found.explanation


def test_every_mistake_is_tried() -> None:
    """No mistake is listed that the tests above do not sign with."""
    assert set(MISTAKES) == {case.mistake for case in ALL}


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.mistake)
def test_no_secret_is_told(case: Wrong) -> None:
    """Neither a secret, encoded or not, nor the signature is in a diagnosis."""
    credentials = parse(case.signed)
    assert credentials is not None
    told = json.dumps(diagnosis(case.signed).as_json())
    secrets = [CONSUMER_SECRET, TOKEN_SECRET, *OTHERS.values()]
    kept = [*secrets, *map(percent, secrets), credentials.signature, percent(credentials.signature)]

    assert [] == [secret for secret in kept if secret in told]


def test_base_string_and_parameters_are_the_servers() -> None:
    """The server's own base string and normalized parameters are shown whole."""
    found = diagnosis(request("c2ln"))

    assert BASE == found.base_string
    assert PARAMETERS == found.normalized_parameters
    assert {
        "base_string": BASE,
        "normalized_parameters": PARAMETERS,
        "mistake": "signature-form",
        "explanation": "oauth_signature is not the base64 text of a 20-byte HMAC-SHA1 digest, 28 "
        "characters that end in =; send that, percent-encoded once.",
    } == found.as_json()


def test_right_signature() -> None:
    """A right signature has no mistake."""
    found = diagnosis(request(signature()))

    assert (None, "The signature is right.") == (found.mistake, found.explanation)


def test_wrong_secret() -> None:
    """A signature without a usual mistake is attributed to the secrets, and both are named."""
    found = diagnosis(request(signature(key="another&secret")))

    assert "secret" == found.mistake
    assert (
        "No usual mistake reproduces this signature, so most likely the consumer secret of 'key' "
        "or the secret of the oauth_token that is sent differs from the one that the client "
        "signed with. Compare the client's secrets with the ones that were issued here, then its "
        "base string with this one, character by character."
    ) == found.explanation


def test_wrong_secret_without_token() -> None:
    """Without a token only the consumer secret is suspected, and its key may lack the &."""
    pairs = [pair for pair in OAUTH if pair[0] != "oauth_token"]
    parameters = joined([*QUERY, *FORM, *pairs])
    wrong_secret = request(signature(parameters=parameters, key="another&"), header=pairs)
    no_ampersand = request(signature(parameters=parameters, key=C), header=pairs)
    empty_token = [*pairs, ("oauth_token", "")]
    extra = signature(parameters=joined([*QUERY, *FORM, *empty_token]), key=f"{C}&")

    assert "the oauth_token" not in diagnosis(wrong_secret, token_secret="").explanation
    assert "ampersand-missing" == diagnosis(no_ampersand, token_secret="").mistake
    assert "parameter-extra" == diagnosis(request(extra, header=pairs), token_secret="").mistake


def test_token_of_a_request_without_one() -> None:
    """A token's secret used where no token is sent is found among the other secrets."""
    pairs = [pair for pair in OAUTH if pair[0] != "oauth_token"]
    sent = signature(parameters=joined([*QUERY, *FORM, *pairs]), key=f"{C}&{O8}")
    found = diagnosis(request(sent, header=pairs), token_secret="")

    assert "other-secret" == found.mistake
    assert "used the secret of token 8 as token secret." in found.explanation


@pytest.mark.parametrize("counted", ["once", "twice"])
def test_mistakes_beside_a_repeated_token(counted: str) -> None:
    """A mistake is also reported for a client that counts a repeated OAuth parameter once."""
    form = [("oauth_token", "token"), ("text", "a")]
    pairs = [*form[1:], *OAUTH] if counted == "once" else [*form, *OAUTH]
    address = "https://api.platform.test/12/a"
    sent = signature(address=address, parameters=joined(pairs))
    signed = request(sent, address=f"{ORIGIN}/12/a", query="", form=urlencode(form))

    assert "address-host" == diagnosis(signed).mistake


# -- bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "mistake"), [(99, "other-secret"), (100, "secret")])
def test_number_of_other_secrets(number: int, mistake: str) -> None:
    """The first hundred other secrets are tried."""
    others = {f"secret {place}": f"number-{place}" for place in range(200)}
    signed = request(signature(key=f"number-{number}&{T}"))

    assert 100 == MAX_SECRETS
    assert mistake == diagnosis(signed, others=others).mistake


@pytest.mark.parametrize(("number", "mistake"), [(7, "address-host"), (8, "secret")])
def test_number_of_hosts(number: int, mistake: str) -> None:
    """The first eight hosts are tried."""
    hosts = [f"host{place}.test" for place in range(20)]
    signed = request(signature(address=f"http://host{number}.test:8080{PATH}"))

    assert mistake == diagnosis(signed, hosts=hosts).mistake


@pytest.mark.parametrize("beyond", [0, 1])
def test_number_of_parameters(beyond: int) -> None:
    """Each parameter is looked at in requests of up to 50, and it is said when it was not."""
    pairs = [(f"p{place}", "1") for place in range(MAX_PARAMETERS + beyond - len(OAUTH))]
    sent = signature(parameters=joined([*pairs[1:], *OAUTH]))
    found = diagnosis(request(sent, query=urlencode(pairs), form=None))

    assert ["parameter-missing", "secret"][beyond] == found.mistake
    assert beyond == found.explanation.startswith("The request is too long to try every")


@pytest.mark.parametrize("beyond", [0, 1])
def test_length_of_parameters(beyond: int) -> None:
    """Each parameter is looked at in requests of up to 4,000 characters of parameters."""
    filler = "x" * (MAX_PARAMETERS_CHARACTERS + beyond - len(joined(OAUTH)) - len("p=1&q=&"))
    pairs = [("p", "1"), ("q", filler)]
    sent = signature(parameters=joined([*pairs[1:], *OAUTH]))
    signed = request(sent, query=urlencode(pairs), form=None)

    assert MAX_PARAMETERS_CHARACTERS + beyond == len(diagnosis(signed).normalized_parameters)
    assert ["parameter-missing", "secret"][beyond] == diagnosis(signed).mistake


def counted(signed: SignedRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[Diagnosis, int, int]:
    """The diagnosis of a request, how many times it was signed, and how many characters."""
    signings: list[int] = []

    def counting(base: str, key: str, algorithm: str = "sha1") -> bytes:
        signings.append(len(base))
        return hmac.digest(key.encode(), base.encode(), algorithm)

    monkeypatch.setattr(oauth1_diagnosis, "_hmac", counting)
    others = {f"secret {place}": f"number-{place}" for place in range(200)}
    hosts = [f"host{place}.test:{place + 1000}" for place in range(20)]
    found = diagnosis(signed, others=others, hosts=hosts)
    return found, len(signings), sum(signings)


@pytest.mark.parametrize(("query", "form"), [
    ("&".join(f"p{place}=%25{place}" for place in range(5_000)), None),
    ("a=1", "&".join("a=1" for _ in range(20_000))),
    ("q=" + "x" * 200_000, "a[]=%20" * 5_000),
    ("&".join(f"p{place}=%25+{place}" for place in range(50)), None),
    ("oauth_token=token&b=1", "oauth_token=token"),
], ids=["names", "repeated", "long", "detailed", "merged"])  # fmt: skip
def test_hostile_requests_are_bounded(
    query: str, form: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However large a request is, it is signed again a bounded number of times and characters."""
    signed = request(signature(key="another&secret"), query=query, form=form)
    found, times, characters = counted(signed, monkeypatch)
    unbounded = 4 * 2 * len(found.base_string)  # the right one and three other hashes, twice

    assert "secret" == found.mistake
    assert times <= MAX_GUESSES + 8
    assert characters <= MAX_CHARACTERS + unbounded


def test_bounds_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guessing ends with the last allowed guess and says that it did not try everything."""
    signed = request(signature(key="another&secret"))
    monkeypatch.setattr(oauth1_diagnosis, "MAX_GUESSES", 10)
    few, times, _ = counted(signed, monkeypatch)
    monkeypatch.setattr(oauth1_diagnosis, "MAX_GUESSES", 10_000)
    monkeypatch.setattr(oauth1_diagnosis, "MAX_CHARACTERS", 20 * len(BASE))
    short, more, _ = counted(signed, monkeypatch)

    assert (10 + 3, 20 + 3) == (times, more)
    assert few.explanation.startswith("The request is too long to try every usual mistake")
    assert short.explanation.startswith("The request is too long to try every usual mistake")


@pytest.mark.parametrize(("secret", "shown"), [("12345678", False), ("1234567", True)])
def test_secret_sent_as_a_parameter(secret: str, shown: bool) -> None:
    """A secret that a client sends as a parameter is redacted, unless it is shorter than 8."""
    others = {"the secret of app 7": secret}
    signed = request(signature(), query=urlencode([("api_secret", secret)]))
    found = diagnosis(signed, others=others)

    assert shown == (secret in found.base_string)
    assert shown == (secret in found.normalized_parameters)
    assert ("[redacted]" in found.base_string) == (not shown)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
NAME = TEXT.filter(lambda name: not name.startswith("oauth_"))


@examples(40)
@given(
    query=st.lists(st.tuples(NAME, TEXT), max_size=4),
    form=st.lists(st.tuples(NAME, TEXT), max_size=4),
    body=TEXT,
    other=st.sampled_from(["another&secret", f"{C}&", f"{T}&{C}"]),
)
def test_any_parameters(query: Pairs, form: Pairs, body: str, other: str) -> None:
    """Whatever is sent, a wrong key is reported as such and no guess raises."""
    sent = signature(parameters=joined([*query, *form, *OAUTH]), key=other)
    signed = request(sent, query=urlencode(query), form=urlencode(form) or None, body=body)
    expected = {"another&secret": "secret", f"{C}&": "token-secret-missing"}

    assert expected.get(other, "secrets-swapped") == diagnosis(signed).mistake
