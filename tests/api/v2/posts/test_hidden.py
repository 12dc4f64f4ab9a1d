"""Replies that the author of a conversation hides."""

from __future__ import annotations

from functools import partial

from tests.api.v2.posts.support import INES, OTHER, OWN, ids, make
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, Sandbox, data_of

ANSWER, PLAIN = "1789900000000000002", "1789900000000000006"


def test_direct_and_indirect_replies_are_hidden(box: Sandbox) -> None:
    """They are still found by id, in searches and in the timeline; twice is once; and back."""
    start = make(box, OWN, "Start")
    old = make(box, OTHER, "One", reply_to=start)
    direct = make(box, OTHER, "Two", previous=old)
    indirect = make(box, INES, "Three", reply_to=direct)
    for post_id, path in ((direct, "posts"), (indirect, "tweets")):
        for hidden in (True, True, False, True):
            version = box.world.store.version("posts")
            was = box.record("posts", post_id).get("_hidden")
            answer = box.call("PUT", f"/2/{path}/{post_id}/hidden", json={"hidden": hidden})
            assert {"hidden": hidden} == data_of(answer)
            assert (was == hidden) == (version == box.world.store.version("posts"))
    assert box.record("posts", old)["_hidden"]
    assert box.record("posts", make(box, OTHER, "Four", previous=direct))["_hidden"]
    assert direct == box.read(f"/2/posts/{direct}", keys=BEARER)["data"]["id"]
    assert [indirect] == ids(box, "/2/posts/search/recent", query="from:ines_duarte three")
    assert indirect == ids(box, f"/2/users/{INES}/posts")[0]


hide = partial(Refusal, f"PUT /2/posts/{ANSWER}/hidden")
REFUSED = [
    Refusal(f"PUT /2/posts/{PLAIN}/hidden", "no reply", 400, json={"hidden": True},
            messages=["Only replies can be hidden."]),
    hide("a conversation of somebody else", 403, json={"hidden": True}, problem="about:blank",
         given={("posts", "1789900000000000001"): {"_user_id": OTHER}}),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)
