"""Each nonce is accepted once."""

from __future__ import annotations

from mock_platform.world.windows import Nonces


def use(nonces: Nonces, nonce: str = "n", *, token: str = "t", now: int = 1000) -> bool:
    """One use, with a timestamp of 1000 and a tolerance of 300 seconds."""
    return nonces.first_use("k", token, nonce, 1000, now=now, keep=300)


def test_a_nonce_is_refused_the_second_time() -> None:
    """The same nonce, key, token and timestamp are new only once."""
    nonces = Nonces()

    assert [use(nonces), use(nonces), use(nonces, "other"), use(nonces, token="u")] == [
        True,
        False,
        True,
        True,
    ]


def test_a_nonce_is_kept_until_its_timestamp_is_too_old() -> None:
    """It stays refused as long as its timestamp would pass, and costs no memory for ever."""
    nonces = Nonces()
    use(nonces)

    assert [use(nonces, now=1600), use(nonces, now=1602)] == [False, True]
