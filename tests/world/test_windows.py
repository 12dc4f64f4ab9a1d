"""Rate windows on the world's clock."""

from __future__ import annotations

from datetime import UTC, datetime

from mock_platform.world.clock import Clock
from mock_platform.world.windows import Nonces, Windows, WindowState

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
END = int(NOON.timestamp()) + 900


def test_the_request_beyond_the_limit_is_exceeded() -> None:
    """With a limit of two the third request of a window is refused, and only then."""
    windows = Windows(Clock(NOON))

    found = [windows.count(("u",), 2, 900) for _ in range(3)]

    assert found == [
        WindowState(2, 1, END, exceeded=False),
        WindowState(2, 0, END, exceeded=False),
        WindowState(2, 0, END, exceeded=True),
    ]


def test_a_window_ends_on_the_clock() -> None:
    """The window that began with the first request is over exactly after its seconds."""
    clock = Clock(NOON)
    windows = Windows(clock)
    windows.count(("u",), 1, 900)

    clock.advance(899)
    inside = windows.count(("u",), 1, 900)
    clock.advance(1)
    after = windows.count(("u",), 1, 900)

    assert (inside.exceeded, after.exceeded, after.reset) == (True, False, END + 900)


def test_windows_are_apart_by_key() -> None:
    """One caller's requests do not count for another."""
    windows = Windows(Clock(NOON))
    windows.count(("u", "1"), 1, 900)

    assert not windows.count(("u", "2"), 1, 900).exceeded


def test_a_clock_sent_back_opens_a_new_window() -> None:
    """Travelling to before a window's start does not leave the caller locked out."""
    clock = Clock(NOON)
    windows = Windows(clock)
    windows.count(("u",), 1, 900)
    clock.advance(-3600)

    assert not windows.count(("u",), 1, 900).exceeded


def test_many_callers_are_swept() -> None:
    """Windows that are over do not pile up."""
    clock = Clock(NOON)
    windows = Windows(clock)
    for number in range(10_000):
        windows.count((str(number),), 1, 60)
    clock.advance(61)

    windows.count(("new",), 1, 60)

    assert len(windows._open) == 1


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


class Unreachable:
    """Kept nonces that cannot be forgotten when they should be."""

    def __init__(self) -> None:
        self.uses: list[tuple[float, int]] = []

    def use(self, nonce: str, mark: float, *, now: int, until: int) -> bool:
        """Remember the use; one is new if it is the first, or the same once more."""
        self.uses.append((mark, until))
        return self.uses[0] == self.uses[-1]

    def give_back(self, nonce: str) -> bool:
        """Forget nothing."""
        return False

    def clear(self) -> None:
        """Forget nothing."""


def test_a_repetition_in_a_later_second_is_the_same_use() -> None:
    """What could not be forgotten counts as new once more, whenever the client repeats it."""
    nonces, kept = Nonces(), Unreachable()
    nonces.kept = kept
    entry = ("key", "token", "nonce", 1_800_000_000)
    first = nonces.first_use(*entry, now=1_800_000_000, keep=300)
    nonces.give_back(*entry)

    again = nonces.first_use(*entry, now=1_800_000_007, keep=300)

    assert (True, True, 1) == (first, again, len(set(kept.uses)))
    assert not nonces.first_use(*entry, now=1_800_000_008, keep=300)
