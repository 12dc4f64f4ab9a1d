from __future__ import annotations

from importlib.util import find_spec

from docs.generators.clients import FILE, write_clients
from mock_platform.verification.fit.clients import read_clients


def test_the_methods_are_those_of_the_installed_libraries() -> None:
    """The file is what `python -m docs.generators.clients` reads from them."""
    assert find_spec("tweepy") is not None
    assert FILE.read_text("utf-8") == write_clients(None), "run python -m docs.generators.clients"


def test_methods_are_found_behind_what_was_called_before() -> None:
    """By the library, and the last names of a dotted name."""
    clients = read_clients()

    assert ["POST /2/tweets"] == clients.find("tweepy.Client().create_tweet")
    assert ["POST /2/tweets"] == clients.find("twitter-api-v2.TwitterApi().readWrite.v2.tweet")
    assert ("GET /2/users/me",) == tuple(clients.find("xdk.Client().users.get_me") or ())
    assert clients.find("tweepy.Client().nothing") is None
    assert clients.find("tweepyx.Client().create_tweet") is None
