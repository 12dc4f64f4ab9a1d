"""The classes of the public price list, for the declarations of operations, and its assumptions.

The prices themselves are data (`verification/costs/prices.json`).
"""

from __future__ import annotations

from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.operation import Price

POST_READ = Price("Posts: Read", "post")
OWN_POST_READ = Price("Posts: Read", "post", may_be_owned=True)
USER_READ = Price("User: Read", "user")
FOLLOW_READ = Price("Following/Followers: Read", "user", may_be_owned=True)
MUTE_READ = Price("Mute: Read", "user", may_be_owned=True)
BLOCK_READ = Price("Block: Read", "user", may_be_owned=True)
LIKED_POST_READ = Price("Like: Read", "post", may_be_owned=True)
LIKE_READ = Price("Like: Read", "like")
MESSAGE_READ = Price("DM Event: Read", "message")
LIST_READ = Price("List: Read", "list")
OWN_LIST_READ = Price("List: Read", "list", may_be_owned=True)
SPACE_READ = Price("Space: Read", "Space")
COMMUNITY_READ = Price("Community: Read", "community")
NOTE_READ = Price("Note: Read", "note")
NOTE_POST_READ = Price("Note: Read", "post")

POST_CREATE = Price("Post: Create")
MESSAGE_CREATE = Price("DM Interaction: Create")
INTERACTION_CREATE = Price("User Interaction: Create")
INTERACTION_DELETE = Price("Interaction: Delete")
CONTENT_MANAGE = Price("Content: Manage")
LIST_CREATE = Price("List: Create")
LIST_MANAGE = Price("List: Manage")
BOOKMARK = Price("Bookmark")
MEDIA_METADATA = Price("Media Metadata")
PRIVACY_UPDATE = Price("Privacy: Update")
MUTE_DELETE = Price("Mute: Delete")
COUNTS_RECENT = Price("Counts: Recent")
COUNTS_ALL = Price("Counts: All")
TRENDS = Price("Trends")

_SOURCE = "what calls cost"
ASSUMPTIONS = (
    public_fact(
        "costs.prices",
        "The price list is the public one, as of the day on the world's clock. It names classes, "
        "not operations; which operation is of which class was chosen by their names.",
        _SOURCE,
    ),
    public_fact(
        "costs.once-a-day",
        "A resource is charged once for an app on a day (UTC), however it is read again: by "
        "another operation, in includes, on a stream. Refused requests and empty answers are free.",
        _SOURCE,
    ),
    expectation(
        "costs.one-set",
        "What an app has read on a day is one set for all classes: a post that was charged as an "
        "owned read costs nothing more as a usual one.",
        _SOURCE,
    ),
    expectation(
        "costs.includes",
        "Posts and users that are only in includes are charged by their own class; media, polls "
        "and places are free. includes_are_free in a price file changes that.",
        _SOURCE,
    ),
    expectation(
        "costs.owned",
        "An owned read is one of the path of the calling user, whose own app calls "
        "(_owner_user_id when the costs are counted); calls with a bearer token are none.",
        _SOURCE,
    ),
    expectation(
        "costs.addresses",
        "A post has an address if its text has one with http or https, or a bare host with one of "
        "the usual endings, or if it quotes a post. It then costs the higher price, summoned or "
        "not. bare_hosts_are_text in a price file takes bare hosts as text.",
        _SOURCE,
    ),
    expectation(
        "costs.summoned",
        "A reply was summoned if the post that it answers mentions its author or quotes a post of "
        "theirs, as the records are when the costs are counted.",
        _SOURCE,
    ),
    expectation(
        "costs.events",
        "An event costs once for an app on a day, however many subscriptions and attempts it has. "
        "Lines of streams of posts and likes are reads. Events without a price are counted as "
        "unpriced.",
        _SOURCE,
    ),
    expectation(
        "costs.lost",
        "A request whose answer was lost on the way is charged like any other.",
        _SOURCE,
    ),
    expectation(
        "costs.unpriced",
        "What the public price list does not name costs nothing and is counted as unpriced. The "
        "advertising interface and OAuth are not billed by call.",
        _SOURCE,
    ),
    expectation(
        "costs.credits",
        "Without credits each call that has a price is answered with 402 as a whole, until some "
        "are bought; then it works at once.",
        _SOURCE,
    ),
)
