"""Says how far the reading of an archive is: a few entries may be as much as many others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mock_platform.har.exchange import HarExchange

_EXCHANGES = 1000
_BYTES = 50 * 1024**2


def show_progress(
    exchanges: Iterable[HarExchange], say: Callable[[str], object]
) -> Iterator[HarExchange]:
    """Yields exchanges, and calls `say` with a line after each 1,000 and each 50 MB of them."""
    said = 0
    for number, exchange in enumerate(exchanges, 1):
        yield exchange
        offset = exchange.place.offset
        if number % _EXCHANGES == 0 or offset - said >= _BYTES:
            said = offset
            say(f"{number:,} exchanges read, {offset // 1024**2:,} MB …")
