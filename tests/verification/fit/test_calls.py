"""What is found in files of projects; nothing of them is run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest

from mock_platform.core import installed
from mock_platform.core.installed import MissingExtra
from mock_platform.verification.fit import project
from mock_platform.verification.fit.project import ProjectReading, read_project
from mock_platform.verification.fit.report import as_json

ProjectCall = list[tuple[int, str, str, str]]


def read(folder: Path, **files: str) -> ProjectReading:
    """Read a project of these files; the last `_` of a name is the dot."""
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(dedent(text), "utf-8")
    return read_project(folder)


def found_in(folder: Path, **files: str) -> ProjectCall:
    """Line, method, path and status of each call."""
    return [
        (each.line, each.method, each.verdict.path, each.verdict.status)
        for each in read(folder, **files).found
    ]


_CALL = re.compile(r"(?:#|//) (\S+) (\S+) (\w+)$")


def expect(text: str) -> ProjectCall:
    """What the comments of a text say of the calls before them: `# GET /2/users/me assumed`."""
    found, line = [], 0
    for number, written in enumerate(text.splitlines(), 1):
        said = _CALL.search(written)
        if said is None or written[: said.start()].strip():
            line = number
        if said is not None:
            method, path, status = (each.replace("?", "") for each in said.groups())
            found.append((line, method, path, status))
    return found


PYTHON = {
    "a plain address": """\
        import requests
        requests.get("https://api.x.com/2/users/me")  # GET /2/users/me assumed
        """,
    "parts of an address": """\
        import requests, os
        HOST = os.environ.get("X_API", "https://api.twitter.com")
        BASE = f"{HOST}/2"
        def read(id):
            url = BASE + "/tweets/%s" % id
            return requests.get(url.rstrip("/"))  # GET /2/tweets/{id} renamed
        """,
    "format and join": """\
        import httpx
        httpx.post("/".join(["https://api.x.com", "2", "users/{}/likes".format(me)]))
        # POST /2/users/{me}/likes assumed
        httpx.Client(base_url="https://api.x.com/2").delete(f"users/{me}/likes/{post}")
        # DELETE /2/users/{me}/likes/{post} assumed
        """,
    "a function that sends, at its calls": """\
        import requests
        def send(method, path, **more):
            if method == "GET":
                return requests.get("https://api.x.com" + path)
            elif method == "POST":
                return requests.post("https://api.x.com" + path)
        send("GET", "/2/users/me")  # GET /2/users/me assumed
        send("POST", "/2/tweets")  # POST /2/tweets renamed
        """,
    "a class whose subclass says where": """\
        import requests
        class Api:
            def get(self, *args):
                return self.ask(*args)
            def ask(self, path):
                return requests.request("GET", self.base + path)
        class Users(Api):
            base = "https://api.x.com/2/users"
            def me(self):
                return self.get("/me")  # GET /2/users/me assumed
        """,
    "what several functions return": """\
        import requests
        def make_url(ids):
            return "https://api.x.com/2/tweets?ids=" + ids, {}
        url, params = make_url("1")
        requests.get(url, params=params)  # GET /2/tweets renamed
        """,
    "the value that reaches the call": """\
        import requests
        url = "https://api.x.com/2/users/me"
        requests.get(url)  # GET /2/users/me assumed
        url = "https://api.x.com/2/tweets"
        requests.post(url)  # POST /2/tweets renamed
        """,
    "an address of which parts are open": """\
        import requests
        requests.get(f"https://api.x.com/2/{path}")  # GET /2/{path} unknown
        requests.request(verb, "https://api.x.com/2/tweets")  # ? /2/tweets unknown
        requests.get(f"https://api.x.com/2/users/{id}/{relation}")
        # GET /2/users/{id}/{relation} unknown
        requests.get("https://api.x.com/9/nothing")  # GET /9/nothing missing
        """,
    "what is no call": """\
        '''Asks https://api.x.com/2/users/me.'''
        import requests
        LINK = "https://api.x.com/2/users/me"  # ? /2/users/me unknown
        requests.get("https://example.com/2/users/me")
        cache = {}
        cache.get("/2/users/me")
        """,
    "other ways to send": """\
        from urllib.request import Request, urlopen
        urlopen(Request("https://api.x.com/2/tweets", data=b"{}"))  # POST /2/tweets renamed
        import aiohttp
        async def f():
            async with aiohttp.ClientSession("https://api.x.com") as session:
                await session.put("/2/tweets/1/hidden")  # PUT /2/tweets/1/hidden renamed
        from requests_oauthlib import OAuth1Session
        OAuth1Session("k").fetch_request_token("https://api.x.com/oauth/request_token")
        # POST /oauth/request_token served
        """,
    "tweepy": """\
        import tweepy
        from tweepy import API as Old
        def make() -> tweepy.Client:
            return tweepy.Client("token")
        client = make()
        client.create_tweet(text="x")  # POST /2/tweets renamed
        tweepy.Paginator(client.search_recent_tweets, "x")  # GET /2/tweets/search/recent renamed
        Old(auth).update_status("x")  # POST /1.1/statuses/update.json assumed
        def run(client: tweepy.Client):
            client.get_me()  # GET /2/users/me assumed
        def guess(bot):
            bot.get_home_timeline()  # GET /2/users/{id}/timelines/reverse_chronological assumed
        class Stream(tweepy.StreamingClient): pass
        Stream("t").add_rules([])  # POST /2/tweets/search/stream/rules renamed
        """,
    "the other libraries": """\
        from TwitterAPI import TwitterAPI
        TwitterAPI("k", "s", api_version="2").request("tweets/search/recent", {})
        # GET /2/tweets/search/recent renamed
        TwitterAPI("k", "s").request("statuses/update", {})
        # POST /1.1/statuses/update.json assumed
        TwitterAPI("k", "s", api_version="2").request("tweets/:1", method_override="DELETE")
        # DELETE /2/tweets/{1} renamed
        from xdk import Client
        Client().posts.create({})  # POST /2/tweets renamed
        from twitter_ads.client import Client as Ads
        account = Ads("k").accounts("a")
        account.campaigns()
        # GET /11/accounts/{id}/campaigns renamed
        # GET /11/accounts/{id}/campaigns/{id} renamed
        from twitter_ads.campaign import Campaign
        Campaign(account).save()
        # POST /11/accounts/{id}/campaigns renamed
        # PUT /11/accounts/{id}/campaigns/{id} renamed
        from twython import Twython
        Twython("k").update_status(status="x")  # ? ? unknown
        """,
}


@pytest.mark.parametrize("case", PYTHON)
def test_python(tmp_path: Path, case: str) -> None:
    """Each way to write a call is found with its place, or said to be unknown."""
    assert expect(PYTHON[case]) == found_in(tmp_path, bot_py=PYTHON[case])


JAVASCRIPT = {
    "fetch": """\
        const BASE = process.env.X_BASE ?? "https://api.x.com";
        // await fetch("https://api.x.com/2/nothing")
        export async function me() { return fetch(`${BASE}/2/users/me`); }
        // GET /2/users/me assumed
        const post = (text: string) =>
          fetch(BASE + '/2/tweets', { method: "POST", body: JSON.stringify({ text }) });
          // POST /2/tweets renamed
        const send = async (path, init) => await fetch(`${BASE}/2/${path}`, init);
        send("users/1/likes", { method: "POST" });  // POST /2/users/1/likes assumed
        send("users/me", {});  // GET /2/users/me assumed
        fetch(BASE + "/2/users/me", options);  // ? /2/users/me unknown
        """,
    "axios": """\
        import axios from "axios";
        const api = axios.create({ baseURL: "https://api.x.com/2" });
        const x = /["'`]/.test(y) ? 1 / 2 : 2;
        await api.get<User>("/users/me");  // GET /2/users/me assumed
        await axios({ url: "https://api.x.com/2/tweets", method: "post" });
        // POST /2/tweets renamed
        const request = require("request-promise");
        var options = { url: 'https://api.twitter.com/1.1/users/show.json', json: true };
        request.get(options).then(body => { console.log(body) });
        // GET /1.1/users/show.json assumed
        """,
    "twitter-api-v2": """\
        import { TwitterApi } from "twitter-api-v2";
        class Bot {
          private client: TwitterApi;
          constructor(private readonly key: string) { this.client = new TwitterApi(key); }
          async run() {
            const { data } = await this.client.v2.tweet(`a ${b(`c`)} d`);  // POST /2/tweets renamed
            await this.client.readWrite.v1.uploadMedia(data);
            // POST /1.1/media/upload.json assumed
            await this.client.v2.get('tweets/:id', {}, { params: { id: "1" } });
            // GET /2/tweets/{id} renamed
            return this.client.generateAuthLink("oob");  // POST /oauth/request_token served
          }
        }
        const { client: logged } = await new TwitterApi({}).login("pin");
        logged.v2.me();  // GET /2/users/me assumed
        """,
    "the vendor's SDKs": """\
        const { Client } = require("@xdevplatform/xdk");
        new Client({}).posts.searchRecent("x");  // GET /2/tweets/search/recent renamed
        import { Client as Older } from "twitter-api-sdk";
        const c = new Older("t");
        c.tweets.createTweet({});  // POST /2/tweets renamed
        """,
}


@pytest.mark.parametrize("case", JAVASCRIPT)
@pytest.mark.parametrize("suffix", ["ts", "js"])
def test_javascript(tmp_path: Path, case: str, suffix: str) -> None:
    """The same in JavaScript and in TypeScript."""
    text = JAVASCRIPT[case]

    assert expect(text) == found_in(tmp_path, **{f"bot_{suffix}": text})


def test_names_across_files(tmp_path: Path) -> None:
    """What one file imports of another is known; files may import one another."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "settings.py").write_text('URL = "https://api.x.com/2"\nimport app.main')
    found = found_in(
        tmp_path / "app",
        main_py="import requests\nfrom .settings import URL\nfrom app import settings\n"
        'requests.get(URL + "/users/me")\nrequests.get(f"{settings.URL}/users/me")',
        urls_js="module.exports = { root: 'https://api.x.com/2', ...more };",
        use_js="const urls = require('./urls');\nfetch(`${urls.root}/users/me`);",
    )

    expected = [(4, "GET", "/2/users/me", "assumed"), (5, "GET", "/2/users/me", "assumed")]
    assert [*expected, (2, "GET", "/2/users/me", "assumed")] == found


def test_broken_files_are_named_with_their_place(tmp_path: Path) -> None:
    """They stop nothing, and nothing of them is guessed."""
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe")
    reading = read(
        tmp_path,
        old_py="a = 1\nprint 'x'\n",
        deep_py="(" * 5000,
        open_js="let a = 1;\nfetch(`https://api.x.com/2/users/me",
        closed_js="let a = [1;\n}",
        far_js="(" * 20_000 + ")" * 20_000,
        text_js="a = 'b\n",
        good_py='import requests\nrequests.get("https://api.x.com/2/users/me")',
        bad_har='{"log": {"entries": [{"request": 1}]}}',
    )

    assert 1 == len(reading.found)
    places = {each.file: each.line for each in reading.faults}
    assert {"binary.py": 1, "old.py": 2, "deep.py": 1, "open.js": 2, "closed.js": 1} == {
        name: line for name, line in places.items() if name[:3] not in {"far", "tex", "bad"}
    }
    assert {"text.js", "bad.har"} <= set(places)


def test_what_is_no_valid_syntax_is_passed_over(tmp_path: Path) -> None:
    """The rest of a file is read; the fault has the line of the part that is left out."""
    text = (
        'fetch("https://api.x.com/2/users/me");\nconst page = <p>you & me</p>;\n'
        'fetch("https://api.x.com/2/tweets", { method: "POST" });'
    )
    reading = read(tmp_path, bot_js=text)

    assert [1, 3] == [each.line for each in reading.found]
    assert [("bot.js", 2)] == [(each.file, each.line) for each in reading.faults]


def test_functions_that_return_themselves(tmp_path: Path) -> None:
    """What goes in circles means nothing, and is no error."""
    text = "function f() { return g; }\nfunction g() { return f; }\nf.me();"

    assert [] == found_in(tmp_path, bot_js=text)


def test_javascript_without_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One fault says how to install it; where there is nothing else, it is an error."""
    monkeypatch.setattr(installed, "find_spec", lambda _: None)
    scripts = {"a_js": "fetch('https://api.x.com/2/users/me')", "b_ts": ""}

    with pytest.raises(MissingExtra, match=r"mock-platform\[fit\]"):
        read(tmp_path, **scripts)
    reading = read(tmp_path, **scripts, c_py="")
    assert ["a.js"] == [each.file for each in reading.faults]


def test_what_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages, hidden folders, environments, links and large files; a file may be the PATH."""
    call = 'import requests\nrequests.get("https://api.x.com/2/users/me")'
    for name in ("node_modules", ".git", "made", "src"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(call)
    (tmp_path / "made" / "pyvenv.cfg").touch()
    (tmp_path / "src" / "link.py").symlink_to(tmp_path / "made" / "a.py")
    (tmp_path / "src" / "linked").symlink_to(tmp_path / ".git")

    assert ["src/a.py"] == [each.file for each in read_project(tmp_path).found]
    assert 1 == len(read_project(tmp_path / "src" / "a.py").found)
    monkeypatch.setattr(project, "MAX_FILE_BYTES", len(call))
    assert [] == read_project(tmp_path).faults
    monkeypatch.setattr(project, "MAX_FILE_BYTES", len(call) - 1)
    assert ["src/a.py"] == [each.file for each in read_project(tmp_path).faults]
    monkeypatch.setattr(project, "MAX_FILES", 0)
    assert "more than 0" in read_project(tmp_path).faults[0].text


def test_archives(tmp_path: Path) -> None:
    """Each operation of an archive is listed once; hosts of others are left out."""
    urls = [
        "https://api.x.com/2/tweets/1",
        "https://api.x.com/2/tweets/2",
        "https://e.org/2/tweets",
    ]
    asked = [{"method": "GET", "url": url, "headers": []} for url in urls]
    entries = [{"request": each, "response": {"status": 200, "headers": []}} for each in asked]
    har = json.dumps({"log": {"entries": entries}})

    assert [(1, "GET", "/2/tweets/1", "renamed")] == found_in(tmp_path, sent_har=har)


def test_calls_of_other_hosts(tmp_path: Path) -> None:
    """Unknown addresses are listed apart, where the file does not name the platform."""
    reading = read(
        tmp_path,
        a_py='import requests\nrequests.get("https://api.x.com/2/users/me")\nrequests.get(link)',
        b_py="import requests\nrequests.get(link)\nrequests.get('https://e.org/a')",
    )

    assert [("a.py", 2), ("a.py", 3)] == [(each.file, each.line) for each in reading.found]
    assert [("b.py", 2)] == reading.elsewhere


def test_json(tmp_path: Path) -> None:
    """The form that programs read."""
    shown = as_json(read(tmp_path, a_py="import requests\nrequests.get('https://x.com/2/usage')"))

    (call,) = shown["calls"]
    assert {"file", "line", "method", "path", "status", "note"} == set(call)
    assert "missing" == call["status"]
    assert 1 == shown["summary"]["missing"]
    assert "first_test" in shown["summary"]
