"""Keywords that people write around others, made up from the world's seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mock_platform.world.ids import Ids

_RELATED = (
    "#{}", "best {}", "buy {}", "cheap {}", "daily {}", "easy {}", "fresh {}", "good {}",
    "home {}", "local {}", "love {}", "morning {}", "my {}", "new {}", "real {}", "save {}",
    "top {}", "weekend {}", "why {}", "{} addict", "{} break", "{} club", "{} community",
    "{} culture", "{} day", "{} deals", "{} delivery", "{} event", "{} fans", "{} festival",
    "{} gift", "{} guide", "{} ideas", "{} life", "{} lover", "{} near me", "{} news",
    "{} online", "{} recipe", "{} review", "{} shop", "{} sale", "{} tips", "{} today",
    "{} trends", "{} video", "{} week",
)  # fmt: skip
"""What people write around a keyword; enough forms to fill an answer for any keywords."""


def find_related(
    ids: Ids, keywords: Sequence[str], negative: Iterable[str], country: str, *, most: int
) -> list[str]:
    """Return up to `most` related keywords; those that contain a negative one come last."""
    unwanted = [keyword.casefold() for keyword in negative]
    stems = [keyword.lstrip("#") or keyword for keyword in keywords]
    candidates = {form.format(stem) for stem in stems for form in _RELATED} - {*keywords}

    question = ids.fraction("related", country, *keywords)

    def rank(candidate: str) -> tuple[bool, float]:
        avoided = any(keyword in candidate for keyword in unwanted)
        return avoided, ids.fraction(question, candidate)

    return sorted(candidates, key=rank)[:most]
