"""The only module for ids and random values: in the public interface's forms, from a seed.

Each value is a keyed hash of the world's seed, its name and a counter. So runs repeat, worlds never
draw the same credentials, and the whole state to save is one integer.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from hashlib import blake2b, shake_128
from urllib.parse import quote

_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_ALNUM = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_FIRST_SNOWFLAKE = 1_990_000_000_000_000_000
_STEP = 1 << 22
_FIRST_MILLISECOND = 1_288_834_974_657
"""The moment from which ids with a time count, in milliseconds of the epoch."""
_LAST_MILLISECOND = (1 << 41) - 1
_MAX_LENGTH = 64
_STAMPS = 64


def unguessable(length: int = 32) -> str:
    """Return letters and digits that cannot be predicted, from the machine's randomness."""
    return "".join(secrets.choice(_ALNUM) for _ in range(length))


def find_moment(snowflake: str) -> datetime:
    """Return the moment that an id of posts, media or messages has in front."""
    number = int(snowflake) if snowflake.isascii() and snowflake.isdigit() else 0
    millis = _FIRST_MILLISECOND + min(number // _STEP, _LAST_MILLISECOND)
    return datetime.fromtimestamp(millis / 1000, UTC)


def check_seed(seed: int | None) -> int | None:
    """Return the seed, if a world can have it.

    Raises:
        TypeError: It is not an integer.
        ValueError: It has more than 64 bits, which JSON does not preserve.
    """
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool)):
        raise TypeError(f"a seed is an integer, not {seed!r}")
    if seed is not None and not -(2**63) <= seed < 2**63:
        raise ValueError(f"a seed has at most 64 bits, got {seed}")
    return seed


class Ids:
    """Draws ids for one world: the same ones in the same order for the same seed and name.

    A length must be 1 to 64, because a draw has enough random bits for that; others raise
    `ValueError`.

    Example:
        >>> ids = Ids(seed=7, world="shop")
        >>> first = ids.base36()
        >>> Ids(seed=7, world="shop").base36() == first, ids.drawn
        (True, 1)
        >>> len(ids.snowflake()), len(ids.alphanumeric(40))
        (19, 40)
    """

    def __init__(self, seed: int, world: str, drawn: int = 0, *, apart: bool = False) -> None:
        """With `apart`, ids with a time differ from those that any world draws in that time."""
        self._key = blake2b(f"{seed}/{world}".encode(), digest_size=32).digest()
        # A copy of it costs a third of a new one, because the key was taken in already.
        self._drawer = blake2b(digest_size=48, key=self._key)
        self.drawn = drawn
        self._stamps = -1, ""
        self._first = int.from_bytes(self._key[:3]) % (_STEP // 2)
        if apart:
            self._first = 3 * _STEP // 4 + self._first // 4

    def base36(self, length: int = 6) -> str:
        """Return an id of the advertising interface: lowercase base 36, no leading zero."""
        value = self._draw("base36", length)
        first = _BASE36[1 + value % 35]
        return first + self._spell(value // 35, _BASE36, length - 1)

    def snowflake(self, moment: datetime | None = None) -> str:
        """Return an id of posts, users, cards, catalogs and jobs: 19 digits, growing.

        With a `moment`, the id has its milliseconds in front, as those of posts and messages do.
        """
        if moment is not None:
            # No two draws of a world have the same count, so ids differ even if the clock stands
            # still or goes back. The count is added, not put in: at one moment ids grow with it.
            self.drawn += 1
            millis = int(moment.timestamp()) * 1000 + moment.microsecond // 1000
            millis -= _FIRST_MILLISECOND
            return str(min(max(millis, 1), _LAST_MILLISECOND) * _STEP + self._first + self.drawn)
        # The counter is in the upper bits, so ids grow in the order in which they are drawn, like
        # the real ones, and the lower bits come from the hash, so that they do not look like a
        # counter.
        value = self._draw("snowflake")
        return str(_FIRST_SNOWFLAKE + self.drawn * _STEP + value % _STEP)

    def media_key(self, prefix: int) -> str:
        """Return a media key: its kind (3 image, 7 video, 13, 16), `_`, a snowflake."""
        return f"{prefix}_{self.snowflake()}"

    def alphanumeric(self, length: int) -> str:
        """Return letters and digits of both cases: tokens, secrets, verifiers."""
        return self._spell(self._draw("alphanumeric", length), _ALNUM, length)

    def digits(self, length: int) -> str:
        """Return decimal digits, the first not zero: PINs."""
        value = self._draw("digits", length)
        return str(1 + value % 9) + self._spell(value // 9, "0123456789", length - 1)

    def uuid(self) -> str:
        """Return a UUID of version 4: connections."""
        text = self._spell(self._draw("uuid"), "0123456789abcdef", 32)
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"

    def fraction(self, *labels: object) -> float:
        """Return a number from 0 up to 1 that depends only on the labels, without a draw."""
        text = "/".join([quote(str(label), safe="") for label in labels])
        digest = blake2b(text.encode(), digest_size=8, key=self._key).digest()
        return (int.from_bytes(digest) >> 11) / 2**53  # as many bits as a float has: never 1.0

    def noise(self, label: str) -> bytes:
        """Return 64 bytes that depend only on the label, without a draw; for many numbers."""
        return blake2b(label.encode(), digest_size=64, key=self._key, person=b"noise").digest()

    def stamp(self, number: int) -> str:
        """Return 16 hexadecimal digits that depend only on the number, without a draw.

        Each request asks for those of the next number, so many are made at once.
        """
        block = number // _STAMPS
        made, text = self._stamps
        if made != block:
            label = f"stamps/{block}".encode()
            text = shake_128(self._key + label).hexdigest(_STAMPS * 8)
            self._stamps = block, text
        start = 16 * (number % _STAMPS)
        return text[start : start + 16]

    def _draw(self, kind: str, length: int = _MAX_LENGTH) -> int:
        if not 1 <= length <= _MAX_LENGTH:
            raise ValueError(f"an id has 1 to {_MAX_LENGTH} characters, not {length}")
        self.drawn += 1
        # The kind is a part of what is hashed: a token and an id that are drawn at the same count
        # share no bits. Nothing but the count is state, so a snapshot keeps one number.
        drawer = self._drawer.copy()
        drawer.update(f"{kind}/{self.drawn}".encode())
        return int.from_bytes(drawer.digest())

    @staticmethod
    def _spell(value: int, alphabet: str, length: int) -> str:
        base, letters = len(alphabet), []
        for _ in range(length):
            value, digit = divmod(value, base)
            letters.append(alphabet[digit])
        return "".join(letters)
