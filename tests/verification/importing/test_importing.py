"""`import`: traffic becomes a folder that answers as recorded; what does not is listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mock_platform.cli.main import group
from mock_platform.core import installed
from mock_platform.delivery.envelope import make_body
from mock_platform.platform import load_base
from mock_platform.settings import Settings
from mock_platform.verification.importing.folder import ImportOptions, import_har
from mock_platform.verification.importing.recorded import read_neutral_event
from mock_platform.verification.importing.result import ImportReport, describe
from mock_platform.world.store.memory import Base
from tests.support import Sandbox
from tests.test_kept_worlds import NOON
from tests.verification.har.support import make_entry, write_har
from tests.verification.importing.support import (
    import_entries,
    list_operations,
    read_table,
    read_words,
    send_original,
    send_sample,
    write_bare_journal,
    write_journal,
)

Answers = list[tuple[str, int, Any]]
BEARER = [{"name": "Authorization", "value": "Bearer [redacted-1]"}]
ACCOUNT = "https://ads-api.x.com/12/accounts/abc"
WEBHOOK_BODY = {
    "data": {
        "event_uuid": "u1", "filter": {"user_id": "77"}, "event_type": "post.create", "tag": "t",
        "payload": {"id": "5", "text": "hello"}}
}  # fmt: skip


def read_answers(box: Sandbox) -> Answers:
    """Path, status and body of each answer in the journal of a sandbox."""
    return [
        (entry.url, entry.status, json.loads(body) if body.startswith(b"{") else body)
        for entry in box.world.journal
        for body in (entry.response_body,)
    ]


@pytest.fixture(scope="module")
def imported(traffic: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> ImportReport:
    """The folder of one request to every operation that has a sample."""
    folder = tmp_path_factory.mktemp("imported")
    return import_har(write_journal(traffic, folder / "own.har"), folder / "made")


NOT_KEPT = {
    "/2/chat/conversations/2244994945-3805104374/events",
    "/2/dm_conversations/media/1990226318405828608/1712850617439560021/gravel-bike.jpg",
}
"""Encrypted events and files: an import makes no records of them, and its report counts them."""


def serve(report: ImportReport, **settings: Any) -> Sandbox:
    """A sandbox with what was imported, and nothing else."""
    scenarios = tuple(str(report.folder / name) for name in report.scenarios)
    folders = (report.folder,)
    more = Settings(default_fixtures=False, fixtures=folders, scenarios=scenarios, **settings)
    return Sandbox(more)


def test_every_operation_is_answered_as_recorded(imported: ImportReport, traffic: Sandbox) -> None:
    """A sandbox that serves the folder answers the same requests alike, most from its records."""
    box, answers = serve(imported, freeze=NOON, limits="off"), read_answers(traffic)
    for operation in list_operations():
        send_sample(box, operation)

    pairs = zip(answers, read_answers(box), strict=True)
    differing = {one[0].partition("localhost")[2] for one, other in pairs if one != other}
    # What makes a new token cannot be the same: the recording does not hold it.
    assert NOT_KEPT >= differing - {"/oauth2/token"}
    assert len(answers) - len(NOT_KEPT) == imported.answered
    assert imported.rules < len(answers) / 2  # writes and lists of relations need rules
    # Lists show most posts without the fields that a record needs.
    other = [note for note in imported.notes if "is no record: no answer shows" not in note]
    kept = ("no table has what these show", "users/1 was never shown")
    other = [note for note in other if not note.startswith(kept)]
    assert len(NOT_KEPT) == sum("not answered as recorded" in note for note in other) == len(other)
    assert 2 == imported.with_secrets  # tokens, and those of conversations


def test_every_operation_with_other_ids(imported: ImportReport, tmp_path: Path) -> None:
    """With fresh ids everything is answered as recorded, and no old id is left."""
    archive = imported.folder.with_name("own.har")

    report = import_har(archive, tmp_path / "made", ImportOptions(ids="map"))

    assert imported.answered == report.answered
    assert len(report.ids) > 100
    long = {each for each in report.ids if len(each) > 4}
    assert long.isdisjoint(read_words(report.folder))


@pytest.mark.parametrize("option", ["--default-fixtures", "--no-default-fixtures"])
def test_the_folder_passes_check(imported: ImportReport, option: str) -> None:
    """Records and scenarios have no faults, nor have the records without the default fixtures."""
    files = "made" if option == "--default-fixtures" else "made/*.json"
    checked = [str(path) for path in imported.folder.parent.glob(files)]
    result = CliRunner().invoke(group, ["check", option, "--warnings", "ignore", *checked])

    assert 0 == result.exit_code, result.output
    assert checked


def test_original_names(tmp_path: Path) -> None:
    """Traffic with original names becomes neutral records, served under the original names."""
    box = Sandbox(Settings(freeze=NOON, limits="off", names="original"))
    wanted = {"posts.list", "promoted_posts.list", "line_items.list", "media_library.list",
              "scheduled_posts.list", "users.me", "public_posts.list"}  # fmt: skip
    for operation in list_operations():
        if operation.id in wanted:
            send_original(box, operation)

    report = import_har(write_bare_journal(box, tmp_path / "real.har"), tmp_path / "made")

    assert ("original", len(wanted)) == (report.names, report.answered)
    assert report.command.endswith(" --names original")
    kept = read_table(report, "promoted_posts")
    assert all("post_id" in record and "tweet_id" not in record for record in kept)


def test_v2_records(tmp_path: Path) -> None:
    """Posts and users of the v2 interface become records, put together from several answers."""
    counts = dict.fromkeys(("followers_count", "following_count", "tweet_count", "listed_count",
                            "like_count", "media_count"), 5)  # fmt: skip
    author = {"id": "77", "name": "Ada", "username": "ada_l", "description": "counts",
              "created_at": "2020-05-01T10:00:00.000Z", "public_metrics": counts}  # fmt: skip
    post, second, bare = (
        {"id": each, "text": "hello", "edit_history_tweet_ids": [each]}
        for each in ("1800000000000000001", "1800000000000000002", "1800000000000000003")
    )
    more = {"author_id": "77", "created_at": "2026-02-01T10:00:00.000Z"}
    stray = {**second, **more, "author_id": "78"}
    base, fields = "https://api.x.com/2/tweets", "tweet.fields=author_id,created_at"
    users_too = "expansions=author_id&user.fields=created_at,description,public_metrics"
    bodies = {
        f"{base}/{post['id']}": {"data": post},
        f"{base}/{post['id']}?{fields}&{users_too}":
            {"data": post | more, "includes": {"users": [author]}},
        f"{base}/{stray['id']}?{fields}": {"data": stray},
        f"{base}/{bare['id']}": {"data": bare},
    }  # fmt: skip

    report = import_entries(tmp_path, *(
        make_entry(url=url, text=json.dumps(body), request_headers=BEARER)
        for url, body in bodies.items()
    ))  # fmt: skip

    posts = {each["id"]: each for each in read_table(report, "posts")}
    users = {each["id"]: each for each in read_table(report, "users")}
    assert {post["id"], stray["id"], bare["id"]} == posts.keys()
    assert ("77", "hello") == (posts[post["id"]]["author_id"], posts[post["id"]]["text"])
    assert ("ada_l", "User 78") == (users["77"]["username"], users["78"]["name"])
    assert 4 == report.answered
    notes = "\n".join(report.notes)
    assert "users/78 was never shown, so it is made up" in notes
    assert "users/1 was never shown, so it is made up" in notes, "the author of the bare one"
    assert 0 == report.rules, "all posts are answered from the records"


PLACE = {"id": "300bcc6e23a88361", "full_name": "Seattle, WA", "contained_within": ["ab12"],
         "geo": {"type": "Feature", "bbox": [-122.4, 47.5, -122.2, 47.7],
                 "properties": {}}}  # fmt: skip
VIDEO = {"media_key": "7_1460322142680072196", "type": "video", "alt_text": "Cups", "height": 720,
         "preview_image_url": "https://pics.example/1.jpg", "width": 1280, "duration_ms": 6000,
         "variants": [{"bit_rate": 632000, "content_type": "video/mp4", "url": "https://v.example"}],
         "public_metrics": {"view_count": 9}}  # fmt: skip
POLL = {"id": "1460323737035677700", "duration_minutes": 60, "voting_status": "closed",
        "options": [{"position": 1, "label": "Tea", "votes": 2},
                    {"position": 2, "label": "Milk", "votes": 1}],
        "end_datetime": "2021-11-15T19:08:05.000Z"}  # fmt: skip
AUTHOR = {"id": "77", "name": "Ada & Co", "username": "ada_l", "description": "by @grace_h",
          "url": "https://t.co/abcdefghij", "entities": {
              "url": {"urls": [{"start": 0, "end": 23, "url": "https://t.co/abcdefghij",
                                "expanded_url": "https://ada.example",
                                "display_url": "ada.example"}]},
              "description": {"mentions": [
                  {"start": 3, "end": 11, "username": "grace_h"}]}}}  # fmt: skip
WHOLE = {
    "id": "1460323737035677698",
    "text": f"Seattle &amp; {'@a_name ' * 40}https://t.co/klmnopqrst",
    "edit_history_post_ids": ["1460323737035677698"],
    "author_id": "77",
    "created_at": "2021-11-15T18:08:05.000Z",
    "attachments": {"media_keys": [VIDEO["media_key"]], "poll_ids": [POLL["id"]],
                    "media_source_post_id": ["1460323737035677690"]},
    "entities": {
        "annotations": [{"start": 0, "end": 6, "probability": 0.7, "type": "Place",
                         "normalized_text": "Seattle"}],
        "urls": [{"start": 334, "end": 357, "url": "https://t.co/klmnopqrst", "status": 200,
                  "expanded_url": "https://a.example/b", "display_url": "a.example/b", "title": "B",
                  "description": "C", "unwound_url": "https://a.example/c",
                  "images": [{"url": "https://a.example/i.png", "width": 2, "height": 1}]}]},
    "note_post": {"text": "Seattle &amp; the whole note"},
    "geo": {"place_id": PLACE["id"],
            "coordinates": {"type": "Point", "coordinates": [-122.3, 47.6]}},
    "withheld": {"copyright": True, "country_codes": ["DE"]},
    "suggested_source_links": ["https://a.example/source"],
    "edit_controls": {"edits_remaining": 5, "is_edit_eligible": True,
                      "editable_until": "2021-11-15T18:38:05.000Z"},
}  # fmt: skip


def test_what_was_recorded_of_a_post_is_shown(tmp_path: Path) -> None:
    """Texts, entities, places, media and polls of an answer are records, not rules."""
    query = (
        "ids=1460323737035677698&expansions=author_id,geo.place_id,attachments.media_keys,"
        "attachments.poll_ids&user.fields=description,entities,url&poll.fields=duration_minutes,"
        "end_datetime,voting_status&place.fields=contained_within,geo&media.fields=alt_text,height,"
        "preview_image_url,width,duration_ms,variants,public_metrics&post.fields=attachments,"
        "author_id,created_at,entities,note_post,geo,withheld,suggested_source_links,edit_controls"
    )
    shown = {"users": [AUTHOR], "places": [PLACE], "media": [VIDEO], "polls": [POLL]}
    text = json.dumps({"data": [WHOLE], "includes": shown})
    url = f"https://api.mine.example/2/posts?{query}"
    entry = make_entry(url=url, text=text, request_headers=BEARER)

    report = import_entries(tmp_path, entry, hosts=("api.mine.example",))

    assert (1, 0, []) == (report.answered, report.rules, report.notes)


def test_more_v2_records(tmp_path: Path) -> None:
    """Messages, webhooks, rules, subscriptions and news are records too, where they are whole."""
    moment = "2026-02-01T10:00:00.000Z"
    message = {"id": "1900000000000000001", "event_type": "MessageCreate", "text": "hi"}
    whole = {**message, "dm_conversation_id": "77-78", "sender_id": "77", "created_at": moment}
    group = {**whole, "id": "1900000000000000002", "dm_conversation_id": "1900000000000000009"}
    hook = {"id": "1800000000000000011", "url": "https://hooks.example.org/in", "valid": True,
            "created_at": moment}  # fmt: skip
    rule = {"id": "1800000000000000012", "value": "coffee has:images", "tag": "cups"}
    wanted = {"subscription_id": "1800000000000000013", "event_type": "post.create",
              "filter": {"user_id": "77"}, "webhook_id": hook["id"], "created_at": moment,
              "updated_at": moment}  # fmt: skip
    made = {**hook, "id": "1800000000000000021"}
    news = {"id": "1800000000000000014", "name": "Coffee", "summary": "More of it."}
    base = "https://api.x.com/2"
    fields = "dm_event.fields=sender_id,created_at,dm_conversation_id"

    report = import_entries(tmp_path, *(
        make_entry(method=method, url=f"{base}/{path}", text=json.dumps(body))
        for method, path, body in (
            ("POST", "webhooks", made),
            ("GET", "webhooks", {"data": [hook, made], "meta": {"result_count": 2}}),
            ("GET", f"dm_events?{fields}", {"data": [whole, group], "meta": {"result_count": 2}}),
            ("GET", "posts/search/stream/rules", {"data": [rule], "meta": {"sent": moment}}),
            ("GET", "activity/subscriptions", {"data": [wanted], "meta": {"result_count": 1}}),
            ("GET", f"news/{news['id']}", {"data": news}),
        )
    ))  # fmt: skip

    shown = {
        name: [each.get("id") or each.get("subscription_id") for each in read_table(report, name)]
        for name in report.records
        if name not in {"apps", "tokens", "users"}
    }
    assert {
        "direct_messages": [whole["id"]], "webhooks": [hook["id"]], "stream_rules": [rule["id"]],
        "activity_subscriptions": [wanted["subscription_id"]],
    } == shown  # fmt: skip
    assert 6 == report.answered
    notes = "\n".join(report.notes)
    assert "it is of a group whose members no answer shows" in notes
    assert "no answer shows its updated_at (ask for news.fields=updated_at)" in notes


def test_what_hangs_on_others_is_shown(tmp_path: Path) -> None:
    """Topics of Spaces, pinned lists, members of groups and cards of older forms are records."""
    moment = "2026-02-01T10:00:00.000Z"
    space = {"id": "1YpKkzBgBlVxj", "state": "live", "title": "Coffee", "creator_id": "77",
             "created_at": moment, "updated_at": moment, "topic_ids": ["84", "85"]}  # fmt: skip
    listed = {"id": "1207354259852820480", "name": "Cups", "owner_id": "77", "created_at": moment}
    joined = {"id": "1900000000000000002", "event_type": "ParticipantsJoin", "sender_id": "77",
              "participant_ids": ["78"], "dm_conversation_id": "1900000000000000009",
              "created_at": moment}  # fmt: skip
    card = {"id": "692xn", "name": "App", "card_type": "IMAGE_APP_DOWNLOAD", "app_cta": "OPEN",
            "card_uri": "card://1044294149527166979", "created_at": moment, "updated_at": moment,
            "deleted": False}  # fmt: skip
    topics = {"topics": [{"id": "84", "name": "Coffee"}]}
    bodies = {
        "2/spaces?ids=1YpKkzBgBlVxj&space.fields=topic_ids": {"data": [space], "includes": topics},
        "2/users/77/pinned_lists?list.fields=owner_id": {"data": [listed], "meta": {}},
        "2/dm_events?dm_event.fields=participant_ids": {"data": [joined], "meta": {}},
        "12/accounts/18ce54d4x5t/cards": {"data": [card], "next_cursor": None},
    }
    entries = (
        make_entry(url=f"https://api.mine.example/{path}", text=json.dumps(body))
        for path, body in bodies.items()
    )

    report = import_entries(tmp_path, *entries, hosts=("api.mine.example",))

    for table, name, shown in (
        ("space_topics", "name", ["Coffee", "Topic 85"]),
        ("direct_messages", "_participants", [["78", "77"]]),
        ("cards", "card_type", ["IMAGE_APP_DOWNLOAD"]),
        ("lists", "id", [listed["id"]]),
    ):
        assert shown == [each[name] for each in read_table(report, table)]


def test_failures_become_scenarios(tmp_path: Path) -> None:
    """A recorded failure can be provoked for any request of its operation."""
    text = json.dumps({"errors": [{"code": "CARD_NOT_FOUND"}], "request": {"params": {}}})
    entry = make_entry(url=f"{ACCOUNT}/cards/1", status=404, text=text)

    report = import_entries(tmp_path, entry)

    assert ["fails-cards-get-404-card-not-found"] == report.failures
    file = report.folder / "scenarios" / f"{report.failures[0]}.yaml"
    box = Sandbox(Settings(scenarios=(str(file),)))
    answer = box.call("GET", "/12/accounts/18ce54d4x5t/cards/1712870000001000001")
    assert (404, json.loads(text)) == (answer.status_code, answer.get_json())


def test_a_failure_with_a_long_code(tmp_path: Path) -> None:
    """A failure whose code has twenty characters and more is imported like any other."""
    box = Sandbox(Settings(freeze=NOON, limits="off"))
    box.call("GET", "/12/accounts/18ce54d4x5t/funding_instruments/zzzz")

    report = import_har(write_journal(box, tmp_path / "traffic.har"), tmp_path / "made")

    assert ["fails-funding-instruments-get-404-funding-instrument-not-found"] == report.failures


def test_a_state_that_was_exported_answers_alike() -> None:
    """`PUT /_mock/state` of a whole state: reads are answered as where it came from."""
    boxes = [Sandbox(Settings(freeze=NOON, limits="off")) for _ in range(2)]
    reads = [each for each in list_operations() if each.method == "GET"]
    boxes[0].change("line_items", "itttx", name="Changed before")
    state = boxes[0].client.get("/_mock/state").get_json()

    assert 200 == boxes[1].client.put("/_mock/state", json=state).status_code
    for box in boxes:
        for operation in reads:
            send_sample(box, operation)

    kept = [[a for a in read_answers(box) if "/_mock/" not in a[0]] for box in boxes]
    assert kept[0] == kept[1]


def make_delivery(body: Any) -> dict[str, Any]:
    """An entry of what was delivered to a webhook."""
    posted = {"mimeType": "application/json", "text": json.dumps(body)}
    return make_entry(method="POST", url="https://hooks.example.org/in", posted=posted)


def make_answer(data: Any, url: str = ACCOUNT, **more: Any) -> dict[str, Any]:
    """An entry whose answer shows these records."""
    body = {"request": {"params": {}}, "data": data, **more}
    headers = [{"name": "Content-Type", "value": "application/json"}]
    return make_entry(url=url, text=json.dumps(body), headers=headers)


def test_foreign_traffic(tmp_path: Path) -> None:
    """Records keep their ids and unknown keys; deliveries become events; the rest is listed."""
    campaign = {"id": "c9x", "name": "Spring", "surprise": [1]}

    report = import_entries(
        tmp_path,
        make_answer([campaign], f"{ACCOUNT}/campaigns", next_cursor=None),
        make_entry(url="https://ads-api.x.com/12/nothing/here", text='{"$a": "$b"}'),
        make_entry(url="https://fonts.example.net/a.css", text="x"),
        make_entry(url=f"{ACCOUNT}/line_items", status=0, content={}),
        make_delivery(WEBHOOK_BODY),
    )

    told = "\n".join(describe(report))
    assert "campaigns/c9x: " in told
    assert "1 request to fonts.example.net: no host of the platform; take it as one with" in told
    assert "entry 3 (line 1), GET /12/accounts/abc/line_items: no response came" in told
    (event,) = read_table(report, "events")
    assert ("post.create", "u1", "t") == (event["event_type"], event["_event_uuid"], event["_tag"])
    assert 2 == report.answered
    assert {"$a": "$b"} == serve(report).call("GET", "/12/nothing/here").get_json()


LIKED = {"id_str": "5", "in_reply_to_status_id": None, "retweet_count": 2, "favorite_count": 1}
DELIVERIES: list[tuple[str, dict[str, Any]]] = [
    ("post.create", {"for_user_id": "77", "tweet_create_events": [LIKED]}),
    ("post.mention.create",
     {"for_user_id": "77", "user_has_blocked": "false", "tweet_create_events": [LIKED]}),
    ("post.delete", {"for_user_id": "77", "tweet_delete_events": [{"status": {"id": "5"}}]}),
    ("like.create", {"for_user_id": "77", "favorite_events": [{"favorited_status": LIKED}]}),
    ("follow.unfollow", {"for_user_id": "77", "follow_events": [{"type": "unfollow"}]}),
    ("dm.sent", {"for_user_id": "77", "direct_message_events": [
        {"type": "message_create", "message_create": {"sender_id": "77"}}]}),
    ("dm.received", {"for_user_id": "77", "direct_message_events": [
        {"type": "message_create", "message_create": {"sender_id": "78"}}]}),
    ("oauth.revoke", {"user_event": {"revoke": {"source": {"user_id": "77"}}}}),
    ("post.create", {"data": {"filter": {"user_id": "77"}, "event_type": "post.create",
                              "event_uuid": "u1", "payload": {"edit_history_tweet_ids": ["5"]}}}),
]  # fmt: skip


def test_deliveries_under_original_names(tmp_path: Path) -> None:
    """They become neutral events, which are delivered under either names; others are listed."""
    unknown = {"data": {"event_type": "odd.thing", "payload": {}}}
    bodies = [*(body for _, body in DELIVERIES), unknown, {"for_user_id": "77", "odd_events": [{}]}]

    report = import_entries(tmp_path, *map(make_delivery, bodies))

    events = read_table(report, "events")
    assert [kind for kind, _ in DELIVERIES] == [each["event_type"] for each in events]
    assert "tweet" not in json.dumps(events)
    for (_, body), event in zip(DELIVERIES, events, strict=True):
        assert body == make_body(event, "0", "original")
        assert read_neutral_event(body) == make_body(event, "0")
    assert "no event type is called 'odd.thing'" in report.notes[0]
    assert "its body has no list of events that is known" in report.notes[1]


def test_parents_that_were_never_shown(tmp_path: Path) -> None:
    """A line item becomes a record although no answer shows its campaign, which is made up."""
    fixtures = json.loads((installed.folder("fixtures") / "line_items.json").read_bytes())
    shown = next(each for each in fixtures if each["id"] == "itttx")
    given = {name: value for name, value in shown.items() if name[0] != "_"}
    own = {**given, "id": "lx1", "campaign_id": "cx1", "funding_instrument_id": "fx1"}

    report = import_entries(tmp_path, make_answer(own, f"{ACCOUNT}/line_items/lx1"))

    kept = [read_table(report, each) for each in ("line_items", "campaigns", "funding_instruments")]
    assert [["lx1"], ["cx1"], ["fx1"]] == [[each["id"] for each in rows] for rows in kept]
    assert ("abc", "fx1", "Campaign cx1") == tuple(
        kept[1][0][name] for name in ("_account_id", "funding_instrument_id", "name")
    )
    assert [
        f"{each} was never shown, so it is made up"
        for each in ("accounts/abc", "campaigns/cx1", "funding_instruments/fx1")
    ] == sorted(report.notes)


def test_repeated_requests(tmp_path: Path) -> None:
    """The same request may have had several answers: they come in the same order again."""
    entries = [
        make_answer({"id": "abc", "name": name}, "http://127.0.0.1/12/accounts/abc")
        for name in ("one", "two", "two", "two", "three", "two", "two")
    ]
    report = import_entries(tmp_path, *entries)

    assert 7 == report.answered
    rules = json.loads((report.folder / "scenarios" / "as-recorded.json").read_text())["rules"]
    assert [1, {"from": 2, "to": 4}, 5, {"from": 6}] == [rule["call"] for rule in rules]


def test_many_equal_answers_are_one_rule(tmp_path: Path) -> None:
    """One rule answers a request that was recorded many times."""
    entry = make_answer({"id": "abc", "unknown": 1}, "http://127.0.0.1/12/accounts/abc")
    report = import_entries(tmp_path, *[entry] * 30)

    assert (30, 1) == (report.answered, report.rules)


def test_an_import_ends_when_no_rule_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule is tried twice, and the fixtures are read once for all rounds."""
    read: list[Settings] = []

    def load(settings: Settings) -> Base:
        read.append(settings)
        return load_base(settings)

    monkeypatch.setattr("mock_platform.verification.importing.folder.load_base", load)
    picture = {"size": 2, "mimeType": "image/png", "text": "//4=", "encoding": "base64"}
    told: list[str] = []
    file = write_har(tmp_path, make_answer({"id": "abc"}), make_entry(url=ACCOUNT, content=picture))

    report = import_har(file, tmp_path / "made", progress=told.append)

    rounds = [text.partition(":")[0] for text in told if text.startswith("Round")]
    assert (1, ["Round 1", "Round 2", "Round 3"]) == (report.answered, rounds)
    assert [True, False] == [settings.default_fixtures for settings in read]


def test_refusals(tmp_path: Path) -> None:
    """A folder in use, and a damaged archive, are refused; nothing is written."""
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "mine.txt").write_text("mine")
    good = write_har(tmp_path, make_entry(url="https://fonts.example.net/"))
    run = CliRunner().invoke

    used = run(group, ["import", "--har", str(good), "--to", str(tmp_path / "made")])
    assert 2 == used.exit_code
    assert "is not empty. Name another folder, or replace it with --force." in used.output

    good.write_text("{")
    bad = run(group, ["import", "--har", str(good), "--to", str(tmp_path / "other")])
    assert 4 == bad.exit_code
    assert "traffic.har:1: the file ends too early" in bad.output
    missing = run(group, ["import", "--har", str(tmp_path / "no"), "--to", str(tmp_path / "other")])
    assert 4 == missing.exit_code
    assert ["made", "traffic.har"] == sorted(path.name for path in tmp_path.iterdir())
    assert "mine" == (tmp_path / "made" / "mine.txt").read_text()
