"""Bookmarks of the v2 interface: posts that a user keeps, and the folders in which they are."""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_USER,
    NamedPostBody,
    Rates,
    check_self,
    declare_public,
    get_user_id,
    make_id_field,
    refuse_value,
    require_record,
    start_on,
    wrap_data,
)
from mock_platform.api.v2.objects.answers import FIELD_SELECTION
from mock_platform.api.v2.objects.lists import (
    PageOfPosts,
    PostPageQuery,
    list_related_posts,
    take_related_posts,
)
from mock_platform.api.v2.objects.relations import BOOKMARKS, FOLDER_POSTS, RELATION_COUNTS
from mock_platform.api.v2.pages import (
    NUMBERS,
    TIMED_POSTS,
    TOKEN_FORMS,
    PagedQuery,
    PageMeta,
    show_list,
    take_page_both_ways,
)
from mock_platform.api.v2.posts.named_posts import NAMED_POSTS, find_named_post, require_named_post
from mock_platform.api.v2.prices import BOOKMARK, OWN_POST_READ
from mock_platform.api.v2.usage.counting import COUNTED_ONCE
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.failures.codes import could_not_find
from mock_platform.core.fields import Flag, Instant, ListOf, Nested, Text
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

FOLDERS = "bookmark_folders"
MOST_SERVED = 800

BOOKMARK_SHAPES = public_fact(
    "bookmarks.shapes",
    "Bookmarks are private and listed with the latest one first; to make or remove one answers 200 "
    "whether or not something changes, and is no event. A folder lists the ids of its posts alone. "
    "meta has the number of results and the tokens.",
    "all of v2, section 5",
    gap=True,
)
MOST_BOOKMARKS = public_fact(
    "bookmarks.most",
    "Only the latest 800 bookmarks of a user are served.",
    "all of v2, section 5",
)
BOOKMARK_FOLDERS = expectation(
    "bookmarks.folders",
    "A bookmark may be in several folders, and leaves all of them when it is removed. A bookmark "
    "that exists is put into a further folder. Folders may have the same name, and the newest one "
    "is listed first. A folder that the caller does not have is refused with 404 in the path "
    "(resource_type post, because the enumeration has no value for folders), 400 in the body.",
)


class BookmarkFolderRecord(Schema):
    """A folder for bookmarks of a user."""

    id = make_id_field(required=True)
    name = Text(required=True, min_length=1, max_length=25)
    created_at = Instant(millis=True, required=True)
    _user_id = Text(required=True)


class NewBookmark(NamedPostBody):
    """The post to keep, and the folder to put it in."""

    folder_id = make_id_field()


class NewBookmarkFolder(Schema):
    """How a folder is called."""

    name = Text(required=True, min_length=1, max_length=25)


class BookmarkFolder(Schema):
    """A folder as its owner sees it."""

    id = Text(required=True)
    name = Text(required=True)


class PageOfFolders(Schema):
    """A page of folders."""

    data = ListOf(Nested(BookmarkFolder))
    meta = Nested(PageMeta, required=True)


class BookmarkedId(Schema):
    """A post in a folder."""

    id = Text(required=True)


class PageOfPostIds(Schema):
    """A page of ids of posts."""

    data = ListOf(Nested(BookmarkedId))
    meta = Nested(PageMeta, required=True)


BookmarkAnswer = wrap_data("BookmarkAnswer", bookmarked=Flag(required=True))
NewFolderAnswer = wrap_data(
    "NewFolderAnswer", "_NewFolder", id=Text(required=True), name=Text(required=True)
)


def list_bookmarks(call: Call, world: World) -> dict[str, Any]:
    """Return the page of posts that the caller has bookmarked."""
    user_id = get_user_id(call)
    return list_related_posts(call, world, BOOKMARKS, user_id, TIMED_POSTS, most=MOST_SERVED)


def create(call: Call, world: World) -> dict[str, Any]:
    """Bookmark a post, and put it into a folder if one is named.

    Raises:
        ProblemFailure: The post or the folder is missing (400), or the post is hidden (403).
    """
    user_id, folder_id = get_user_id(call), call.params.get("folder_id")
    post = require_named_post(call, world)
    if folder_id is not None and _find_folder(world, user_id, folder_id) is None:
        text = could_not_find("folder", "folder_id", folder_id)
        raise refuse_value(text, BOOKMARK_FOLDERS, name="folder_id", value=folder_id)
    BOOKMARKS.add(world, user_id, post["id_str"])
    if folder_id is not None:
        FOLDER_POSTS.add(world, folder_id, post["id_str"])
    return {"data": {"bookmarked": True}}


def delete(call: Call, world: World) -> dict[str, Any]:
    """Remove a bookmark, from its folders too."""
    user_id = get_user_id(call)
    post = find_named_post(world, call.path_params["post_id"])
    if post is not None and BOOKMARKS.remove(world, user_id, post["id_str"]):
        for folder in world.store.page(FOLDERS, {"_user_id": user_id}):
            FOLDER_POSTS.remove(world, folder.key, post["id_str"])
    return {"data": {"bookmarked": False}}


def list_folders(call: Call, world: World) -> dict[str, Any]:
    """Return the page of the caller's folders."""
    match = {"_user_id": get_user_id(call)}
    page = take_page_both_ways(call, world, FOLDERS, match, form=NUMBERS)
    return show_list([_show(folder) for folder in page.records], meta=page.meta())


def create_folder(call: Call, world: World) -> dict[str, Any]:
    """Make a folder for bookmarks of the caller."""
    folder = {
        "id": world.ids.snowflake(),
        "name": call.params["name"],
        "created_at": wire_millis(world.clock.now()),
        "_user_id": get_user_id(call),
    }
    world.store.put(FOLDERS, folder["id"], folder)
    return {"data": _show(folder)}


def get_folder(call: Call, world: World) -> dict[str, Any]:
    """Return the page of the ids of the posts in a folder of the caller."""
    folder = require_record(
        call,
        world,
        FOLDERS,
        "folder",
        BOOKMARK_FOLDERS,
        parameter="folder_id",
        find=partial(_find_folder, world, get_user_id(call)),
        resource_type="post",
    )
    page = take_related_posts(call, world, FOLDER_POSTS, folder["id"], TIMED_POSTS)
    return show_list([{"id": post["id_str"]} for post in page.records], meta=page.meta())


def _find_folder(world: World, user_id: str, folder_id: str) -> Record | None:
    """Return a folder of a user, or `None`."""
    folder = world.store.get(FOLDERS, folder_id)
    return folder if folder is not None and folder["_user_id"] == user_id else None


def _show(folder: Record) -> dict[str, Any]:
    return {"id": folder["id"], "name": folder["name"]}


TABLES = (Table(FOLDERS, BookmarkFolderRecord, references=(Reference("_user_id", "users"),)),)
_PATH = "/2/users/:id/bookmarks"
_READ = ("bookmark.read", "post.read", "users.read")
_declare = partial(declare_public, rules=check_self())
_declare_write = partial(
    _declare,
    returns=BookmarkAnswer,
    auth=Auth(("oauth2",), scopes=("bookmark.write", "post.read", "users.read")),
    limit=Rates(user=50),
    assumptions=(BOOKMARK_SHAPES, BOOKMARK_FOLDERS, NAMED_POSTS, RELATION_COUNTS),
    price=BOOKMARK,
)
_declare_folders = partial(
    _declare,
    params=PagedQuery,
    since=start_on("2025-01-08"),
    limit=Rates(app=50, user=50),
    assumptions=(BOOKMARK_SHAPES, BOOKMARK_FOLDERS, TOKEN_FORMS),
)
OPERATIONS = (
    _declare(
        "bookmarks.list",
        f"GET {_PATH}",
        list_bookmarks,
        "List the posts that a user has bookmarked",
        params=PostPageQuery,
        returns=PageOfPosts,
        auth=Auth(ANY_USER, scopes=_READ),
        limit=Rates(user=180),
        errors=("invalid-request", "usage-capped"),
        assumptions=(BOOKMARK_SHAPES, MOST_BOOKMARKS, FIELD_SELECTION, TOKEN_FORMS),
        may_assume=(COUNTED_ONCE,),
        example=Example(conditions={"max_results": "100"}),
        price=OWN_POST_READ,
    ),
    _declare_write(
        "bookmarks.create",
        f"POST {_PATH}",
        create,
        "Bookmark a post",
        params=NewBookmark,
        errors=("invalid-request", "about:blank"),
        example=Example(
            json={"post_id": "1789900000000000004", "folder_id": "1990100000000000001"}
        ),
    ),
    _declare_write(
        "bookmarks.delete",
        f"DELETE {_PATH}/:post_id",
        delete,
        "Remove a bookmark",
        rules=check_self("id", "post_id"),
        example=Example(path={"post_id": "1789900000000000004"}),
    ),
    _declare_folders(
        "bookmark_folders.list",
        f"GET {_PATH}/folders",
        list_folders,
        "List the folders of a user's bookmarks",
        returns=PageOfFolders,
        auth=Auth(ANY_USER, scopes=("bookmark.read", "users.read")),
    ),
    _declare(
        "bookmark_folders.create",
        f"POST {_PATH}/folders",
        create_folder,
        "Make a folder for bookmarks",
        params=NewBookmarkFolder,
        returns=Flat(NewFolderAnswer, status=201),
        auth=Auth(("oauth2",), scopes=("bookmark.write", "users.read")),
        since=start_on("2026-08-07"),
        assumptions=(BOOKMARK_SHAPES, BOOKMARK_FOLDERS),
        example=Example(json={"name": "Recipes"}),
    ),
    _declare_folders(
        "bookmark_folders.get",
        f"GET {_PATH}/folders/:folder_id",
        get_folder,
        "List the ids of the posts in a folder",
        rules=check_self("id", "folder_id"),
        returns=PageOfPostIds,
        auth=Auth(ANY_USER, scopes=_READ),
        errors=("invalid-request", "resource-not-found"),
        example=Example(path={"folder_id": "1990100000000000001"}),
    ),
)
