"""Line items of the fixtures that the tests of their parts use."""

from __future__ import annotations

CLICKS, PREROLL, VIDEO, FOLLOWERS, CYCLISTS = "itttx", "iuc5v", "iufm7", "iuj2q", "iuk8w"
"""Line items: of promoted posts, of media, of promoted posts, and two of a promoted account."""
DELETED, FOREIGN = "iuqf4", "iv7pd"
"""A deleted line item, and one of another account."""
