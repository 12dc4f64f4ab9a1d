"""Mistakes in fixtures, scenarios and settings: the message has the place and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from mock_platform.cli.main import group

USER = '{"id": "11", "name": "A", "username": "aaa"}'
OTHER = '{"id": "22", "name": "B", "username": "bbb"'
ITEM = (
    '{"id": "li1", "campaign_id": "8wku2", "objective": "REACH", "_account_id": "18ce54d4x5t", '
    '"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"'
)

FIXTURES = [
    ("users.json", '{"11": {"name": "A"}}', "1:1: a fixture file is an array of records, got an "
     "object of records; write them in an array, each with its key in it"),
    ("users.json", USER, "1:1: a fixture file is an array of records, got an object; write [ "),
    ("users.json", f'{{"users": [{USER}]}}', "1:1: a fixture file is an array of records, got an "
     "object; write the array of its key 'users' alone"),
    ("users.json", f'{{"data": [{USER}], "meta": {{}}}}', "write the array of its key 'data' "
     "alone"),
    ("users.json", "5", "1:1: a fixture file is an array of records, got 5"),
    ("users.json", f"[{USER},\n [{USER}]]", "2:2: record 1: a record is an object, got [{"),
    ("users.json", f'[{USER},\n "22"]', '2:2: record 1: a record is an object, got "22"'),
    ("users.json", f"[{USER},\n null]", "2:2: record 1: a record is an object, got null"),
    ("usrs.json", f"[{USER}]", "1:1: no table is called 'usrs'. Did you mean 'users.json'? "
     "Tables: "),
    ("tweets.json", "[]", "1:1: no table is called 'tweets'. Did you mean 'posts.json'?"),
    ("promoted_tweets.json", "[]", "Did you mean 'promoted_posts.json'?"),
    ("Users.json", "[]", "Did you mean 'users.json'?"),
    ("line-item.json", "[]", "Did you mean 'line_items.json'?"),
    ("fixtures.json", f'{{"users": [{USER}], "posts": []}}', "1:1: a fixture file has one table: "
     "write the array of each into a file: users.json, posts.json"),
    ("fixtures.json", f'{{"users": [{USER}]}}', "write the array of each into a file: users.json"),
    ("posts.json", f'{{"users": [{USER}]}}', "write the array of its key 'users' alone"),
    ("users.json", f'[{USER},\n {OTHER},\n  "descripton": "x"}}]',
     "3:3: record 1, field descripton: 'descripton' is no field of users. Did you mean "
     "'description'? Its fields: "),
    ("promoted_posts.json", '[{"id": "1", "tweet_id": "1"}]', "1:14: record 0, field tweet_id: "
     "'tweet_id' is no field of promoted_posts. Did you mean 'post_id'?"),
    ("users.json", f'[{USER},\n {OTHER}, "public_metrics": {{"listd_count": 5}}}}]',
     "record 1, field public_metrics.listd_count: 'public_metrics.listd_count' is no field"),
    ("users.json", f'[{USER},\n {{"id": "22", "name": 5, "username": "bbb"}}]',
     "2:15: record 1, field name: Expected String, got 5 for name"),
    ("users.json", f'[{OTHER}, "protected": "yes"}}]', 'Expected Boolean, got "yes" for protected'),
    ("users.json", '[{"id": "11", "username": "aaa"}]', '1:2: record 0, field name: "name" is a '),
    ("users.json", '[{"name": "A", "username": "aaa"}]', "1:2: record 0, field id: id must be a "),
    ("users.json", f'[{OTHER}, "created_at": "yesterday"}}]', "record 0, field created_at: "
     'Expected time, got "yesterday" for created_at. Not an ISO 8601 date-time such as'),
    ("users.json", f"[{USER},\n{USER}]", "2:2: record 1, field id: id '11' occurs twice in this "
     "file"),
    ("users.json", '[{"id": "11",\n "id": "12", "name": "A", "username": "aaa"}]',
     "2:2: the key 'id' is in one object twice, and only the last would count"),
    ("users.json", '[\n {"id": "11,\n "name": "A"}]', "2:13: not valid JSON: unexpected control "
     "character in string at line 2, column 13 (a text ends on its line: a quote is missing"),
    ("users.json", f"[{USER},\n]", "1:46: not valid JSON: trailing comma is not allowed"),
    ("users.json", "[{'id': '11'}]", "(texts are between double quotes)"),
    ("users.json", f"[\n // me\n {USER}]", "2:2: not valid JSON: unexpected character, expected a "
     "JSON value at line 2, column 2 (JSON has no comments)"),
    ("users.json", "- id: '11'\n", "(this looks like YAML; this file is JSON)"),
    ("users.yaml", "# mine\n- id: '11'\n", "1:1: is no fixture file: those are JSON, an array of "
     "records in TABLE.json, here users.json"),
    ("users.yml", "- id: '11'\n\tname: A\n", "1:1: is no fixture file: those are JSON"),
    ("users.json", f"[\n{USER}", "2:45: not valid JSON: unexpected end of data"),
    ("users.json", f"[{USER}\n{USER}]", "2:1: not valid JSON: unexpected character, expected ',' "
     "or"),
    ("users.json", "", "1:1: not valid JSON: Input is a zero-length"),
    ("users.json", "[NaN]", "1:2: not valid JSON: unexpected character, expected a JSON value at "
     "line 1, column 2 (JSON has no NaN; write null)"),
    ("users.json", '[{"_make": "5"}]', "1:3: record 0, field _make: count is a whole number from "
     "1"),
    ("users.json", '[{"_make": 5, "nam": "x"}]', "1:15: record 0, field nam: 'nam' is no field "
     "of "),
    ("line_items.json", f'[{ITEM.replace("REACH", "REACHH")}}}]', "Did you mean REACH?"),
    ("line_items.json", f'[\n{ITEM.replace("8wku2", "8wku")}}}]',
     "2:15: record 0, field campaign_id: campaign_id refers to '8wku', which is not in campaigns. "
     "Did you mean '8wku2'? There are "),
    ("line_items.json", f'[{ITEM.replace("18ce54d4x5t", "18ce54d4x5")}, "goal": 5}}]',
     "which is not in accounts. Did you mean '18ce54d4x5t'?"),
    ("line_items.json", f'[{ITEM.replace("_account_id", "account_id")}}}]',
     "'account_id' is no field of line_items. Did you mean '_account_id'?"),
    ("posts.json", '[{"id": "5", "text": "x",\n "author_id": "nobody"}]',
     "2:2: record 0, field author_id: author_id refers to 'nobody', which is not in users. There "
     "are 2244994945, "),
]  # fmt: skip

HEAD = "name: a\ndescription: x.\n"
RULE = "rules:\n  - on: accounts.list\n    "
THEN = "then: {error: 89}\n"
SCENARIOS = [
    (f"{HEAD}rules:\n\t- on: accounts.list\n", "4:1: not valid YAML: found character '\\t' that "
     "cannot start any token (indent with spaces)"),
    ('name: a\ndescription: "x.\nrules: []\n', "2:14: not valid YAML: what opens here is not "
     "closed"),
    (f"{HEAD}{RULE}then: {{error: 89\n", "5:11: not valid YAML: what opens here is not closed"),
    (f"{HEAD}{RULE} {THEN}", "5:10: not valid YAML: mapping values are not allowed here (indent "
     "it "),
    (f"{HEAD}rules:\n  - on: *\n", "4:10: not valid YAML: expected alphabetic or numeric "
     'character, but found \'\\n\' (write "*" with quotation marks)'),
    (f"description: x.\n{RULE}{THEN}", "1:1: name is missing"),
    (f"{HEAD}rule:\n  - on: accounts.list\n", '3:1: rule: "rule" is unknown here. Did you mean '
     "'rules'? Allowed: name, description, "),
    (f"{HEAD}rules:\n  on: accounts.list\n  {THEN}", "3:1: rules: expected a list, got "
     '{"on":"accounts.list","then":{"error":89}}; begin each entry with `- `'),
    (f"- on: accounts.list\n  {THEN}", "Write `name: …`, then these entries below `rules:`"),
    (f"{HEAD}rules:\n  - on: accounts.list\n", "4:5: rules[0]: then is missing"),
    (f"{HEAD}rules:\n  - on: line_item.list\n    {THEN}", '4:5: rules[0].on: "line_item.list" is '
     "not allowed. Did you mean 'line_items.list'? Allowed: line_items.list, "),
    (f"{HEAD}{RULE}then: {{eror: 89}}\n", '5:12: rules[0].then.eror: "eror" is unknown here. Did '
     "you mean 'error'? Allowed: problem, error, "),
    (f"{HEAD}{RULE}then: {{error: 403}}\n", "403 is not allowed. Allowed: 17, 25, "),
    (f"{HEAD}{RULE}then: {{error: UNAUTHORISED_ACCESS}}\n", "Did you mean 'UNAUTHORIZED_ACCESS'?"),
    (f"{HEAD}{RULE}then: {{problem: usage-caped}}\n", "Did you mean 'usage-capped'? Allowed: "),
    (f'{HEAD}{RULE}then: {{respond: {{status: "404"}}}}\n', "5:22: rules[0].then.respond.status: "
     'expected a whole number from 200 to 599, got "404"'),
    (f"{HEAD}{RULE}when: {{headrs: {{x: y}}}}\n    {THEN}", '5:12: rules[0].when.headrs: "headrs" '
     "is unknown here. Did you mean 'headers'? Allowed: path, "),
    (f"{HEAD}{RULE}when: {{query: {{cont: '1'}}}}\n    {THEN}", "5:20: rules[0].when.query.cont: "
     "accounts.list has no query parameter 'cont'. Did you mean 'count'? Known: "),
    (f"{HEAD}{RULE}call: first\n    {THEN}", "5:5: rules[0].call: expected the number of a "
     "matching "),
    (f"{HEAD}{RULE}then: {{fault: rst}}\n", "Did you mean 'reset'? Allowed: reset, empty, "),
    (f"{HEAD}{RULE}then: {{delay: {{seconds: 2 secs}}}}\n", "not a duration such as 500ms, 90s"),
    (f"{HEAD}{RULE}times: $tmes\n    {THEN}", "5:5: rules[0].times: $tmes is no parameter of this"),
    (f"{HEAD}{RULE}{THEN}    {THEN}", '6:5: key "then" occurs twice in one object'),
    (f"{HEAD}{RULE}{THEN}    expect: fire\n", '6:5: rules[0].expect: "fire" is not allowed. Did '
     "you "),
    (f"{HEAD}{RULE}then: {{set: {{acounts/1: {{name: x}}}}}}\n",
     "5:18: rules[0].then.set.acounts/1: expected TABLE/ID with the name of a table, got "
     '"acounts/1". Did you mean \'accounts\'?'),
    (f"{HEAD}{RULE}{THEN}---\nname: b\n", "6:1: a second document; a file holds one scenario"),
]  # fmt: skip

SETTINGS = [
    ("# x\n[server]\nport = 1\n", "2:1: 'server' is no table of this file; it has [serve], [run], "
     "[pytest]. Did you mean 'serve'?"),
    ('[serve]\nhost = "127\n', "2:12: Illegal character '\\n'."),
    ('[serve]\nport = "eighty"\n', "2:1: port: 'eighty' is not a valid integer range."),
    ('[serve]\nnames = "orignal"\n', "2:1: names: 'orignal' is not one of 'neutral', 'original'. "
     "Did you mean 'original'?"),
    ("[serve]\nport = 1\nport = 2\n", "3:9: Cannot overwrite a value."),
    ("[serve]\nfreeze = true\n", "2:1: freeze: True is neither text nor a number."),
    ("serve:\n  port: 1\n", "1:6: Expected '=' after a key in a key/value pair; each line is KEY "
     "= "),
    ("[serve]\nport = 1\n\n [serve.limits]\nx = 1\n", "4:2: limits: {'x': 1} is neither text nor a "
     "number."),
    ("[[serve]]\nport = 1\n", "1:1: 'serve' is a table, written once as [serve]."),
    ('[pytest]\nnames = "original"\n', "2:1: [pytest] has no option 'names'. Did you mean "
     "'mock-names'?"),
    ("[serve]\nport = \n", "2:8: Invalid value."),
]  # fmt: skip


def _check(folder: Path, name: str, text: str) -> list[str]:
    """What `check` prints of a file with this text, without the name of the file."""
    file = folder / name
    file.write_text(text, "utf-8")
    found = CliRunner().invoke(group, ["check", str(file)])
    assert found.exit_code == 1
    assert "Traceback" not in found.output
    told = [line.removeprefix(f"{file}:") for line in found.output.splitlines()[:-1]]
    assert all(line[0].isdigit() for line in told)
    return told


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        *FIXTURES,
        *(("a.yaml", *row) for row in SCENARIOS),
        *(("mock-platform.toml", *row) for row in SETTINGS),
    ],
)
def test_a_fault_has_its_place(tmp_path: Path, name: str, text: str, told: str) -> None:
    """A fault of a file has its place, what is allowed, and what may be meant."""
    assert any(told in line for line in _check(tmp_path, name, text))


def test_several_records_of_which_some_are_right(tmp_path: Path) -> None:
    """All faults of a file are reported at once, and no record that is right."""
    text = f'[{USER},\n {OTHER}, "protected": 1, "nme": "x"}},\n {USER}]'

    told = _check(tmp_path, "users.json", text)

    assert [line.partition(", ")[0] for line in told] == [
        "2:63: record 1",
        "2:47: record 1",
        "3:3: record 2",
    ]


@pytest.mark.parametrize("name", ["users.json", "a.json", "a.yaml"])
def test_names_do_not_control_the_terminal(tmp_path: Path, name: str) -> None:
    """What is called like an order to a terminal, or like another line, is shown in escapes."""
    key = '"' + r"k\u001b[2J\u009b\u202e\nError: no" + '"'
    text = f'[{{"id": "11", {key}: 1}}]' if name == "users.json" else f'{{"name": "a", {key}: 1}}'
    file = tmp_path / name
    file.write_text(text)

    done = CliRunner().invoke(group, ["check", str(tmp_path)])

    assert r"k\x1b[2J\x9b\u202e\nError: no: " in done.stdout
    assert all(line.isprintable() for line in done.stdout.splitlines())
    assert "\nError: no" not in done.stdout


def test_a_key_twice_in_a_json_scenario(tmp_path: Path) -> None:
    """The second of two equal keys is the place, in JSON as in YAML."""
    told = _check(tmp_path, "a.json", '{"name": "a",\n "name": "b", "rules": []}')

    assert told == ['2:2: key "name" occurs twice in one object']
