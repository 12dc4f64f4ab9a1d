"""What the methods of published client libraries send: `clients.json` in `verification/fit`.

The libraries are read by the same reader as the projects of users. Those of node are read where a
folder `node_modules` is named: `python -m docs.generators.clients [NODE_MODULES]`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from mock_platform.core.jsonio import dumps, loads
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.verification import fit
from mock_platform.verification.fit.calls import Finder, ProjectCall
from mock_platform.verification.fit.clients import Clients
from mock_platform.verification.fit.javascript import read_javascript
from mock_platform.verification.fit.project import list_files
from mock_platform.verification.fit.python import read_python
from mock_platform.verification.fit.source import NameScope, SourceFile
from mock_platform.verification.fit.verdicts import Judge

FILE = Path(fit.__file__).parent / "clients.json"
_USES = "uses.py"
_BY_NODE = {"v1": "/1.1/", "v2": "/2/", "ads": "/12/"}
_NODE_VERBS = {
    "get": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE",
    "getStream": "GET", "postStream": "POST",
}  # fmt: skip
_MOST_SENT = 10
"""A method that sends more is the one that all others call."""
Methods = dict[str, list[str]]


def write_python() -> dict[str, Methods]:
    """Returns what the libraries for Python send, by library and method."""
    return {
        "TwitterAPI": dict(_list_endpoints()),
        "tweepy": _read_library("tweepy", _keep),
        "twitter": _read_library("twitter", _keep),
        "twitter_ads": _read_library("twitter_ads", _keep),
        "xdk": _read_library("xdk", _name_by_client),
    }


def write_node(modules: Path) -> dict[str, Methods]:
    """Returns what the libraries of node in this folder send."""
    by_file = modules / "twitter-api-v2" / "dist" / "esm"
    known = _collect(_find(_read(by_file, by_file)), _name_by_file)
    for prefix, base in _BY_NODE.items():
        known |= {
            f"{prefix}.{verb}": [f"{sent} {base}{{url}}"] for verb, sent in _NODE_VERBS.items()
        }
    vendor = modules / "@xdevplatform" / "xdk" / "dist" / "index.js"
    older = modules / "twitter-api-sdk" / "dist" / "gen"
    return {
        "twitter-api-sdk": _collect(_find(_read(older, older)), _name_last),
        "@xdevplatform/xdk": _collect(_find(_read(vendor, vendor.parent)), _name_by_client),
        "twitter-api-v2": dict(sorted(known.items())),
    }


def write_clients(modules: Path | None) -> str:
    """Returns the text of the file; without `modules` the libraries of node stay as they are."""
    known = write_python()
    if modules is None:
        kept = loads(FILE.read_bytes())
        known |= {name: kept[name] for name in kept if name not in known}
    else:
        known |= write_node(modules)
    rows = [
        f"{dumps(name).decode()}: {{\n"
        + ",\n".join(
            f"{dumps(key).decode()}: {dumps(sent).decode()}" for key, sent in found.items()
        )
        + "\n}"
        for name, found in sorted(known.items())
    ]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _read_library(name: str, key: Callable[[ProjectCall], str]) -> Methods:
    spec = find_spec(name)
    (folder,) = (spec and spec.submodule_search_locations) or ("",)
    sources = _read(Path(folder), Path(folder).parent)
    used, keys = _use_inherited(sources)
    found = _find([*sources, used])
    methods = _collect((each for each in found if each.file != _USES), key)
    for each in found:
        if each.file == _USES and each.verdict.status != "unknown":
            methods.setdefault(keys[each.line], []).append(_describe(each))
    return _sort(methods)


def _read(root: Path, base: Path) -> list[SourceFile]:
    return [
        (read_python if file.suffix == ".py" else read_javascript)(
            file.relative_to(base).as_posix(), file.read_text("utf-8")
        )
        for file in list_files(root)
    ]


def _find(sources: list[SourceFile]) -> list[ProjectCall]:
    judge = Judge(Platform(Settings(default_fixtures=False)))
    return Finder(sources, judge, Clients({})).find()


def _use_inherited(sources: list[SourceFile]) -> tuple[SourceFile, dict[int, str]]:
    """Returns a file that calls each inherited method of each class, and what each line calls."""
    classes = {each.name: each for s in sources for each in s.module.inner.values() if each.bases}
    lines: list[str] = []
    keys: dict[int, str] = {}
    for name, holder in classes.items():
        for method in dict.fromkeys(_list_inherited(holder, classes, sources)):
            module = holder.file.path.removesuffix(".py").replace("/", ".")
            lines.append(f"from {module} import {name}; {name}().{method}()")
            keys[len(lines)] = f"{name}.{method}"
    return read_python(_USES, "\n".join(lines)), keys


def _list_inherited(
    holder: NameScope, classes: dict[str, NameScope], sources: list[SourceFile]
) -> Iterator[str]:
    every = {each.name: each for s in sources for each in s.module.inner.values()}
    for base in holder.bases:
        name = getattr(base, "id", getattr(base, "attr", ""))
        if name in every and every[name] is not holder:
            own = every[name].inner
            yield from (
                n
                for n in own
                if own[n].kind == "function" and n[0] != "_" and n not in holder.inner
            )
            yield from _list_inherited(every[name], classes, sources)


def _collect(found: Iterable[ProjectCall], name: Callable[[ProjectCall], str]) -> Methods:
    methods: Methods = {}
    for each in found:
        key = name(each)
        if key and each.method and each.verdict.path[:1] == "/" and "://" not in each.verdict.path:
            methods.setdefault(key, []).append(_describe(each))
    return _sort(methods)


def _sort(methods: Methods) -> Methods:
    """Returns methods by name, each with what differs in more than the names of its parts."""
    return {
        key: list({re.sub(r"\{\w*\}", "", sent): sent for sent in reversed(sents)}.values())[::-1]
        for key, sents in sorted(methods.items())
        if len(sents) < _MOST_SENT
    }


def _describe(found: ProjectCall) -> str:
    # tweepy takes the id of the user from the token: `access_token.partition("-")[0]`.
    path = re.sub(r"\{(?:partition|\*\d)\}", "{id}", found.verdict.path)
    return f"{found.method} {path}"


def _keep(found: ProjectCall) -> str:
    """`Client.create_tweet`; private methods and functions are no entries."""
    names = found.function.split(".")
    return "" if len(names) != 2 or names[1].startswith("_") else found.function


def _name_by_client(found: ProjectCall) -> str:
    """`posts.search_recent` for `PostsClient.search_recent`."""
    if "Client." not in found.function:
        return _keep(found)
    name, _, method = found.function.partition("Client.")
    own = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    if found.file.endswith(".js"):
        own = name[:1].lower() + name[1:]
    return f"{own}.{method}".lstrip(".")


def _name_by_file(found: ProjectCall) -> str:
    """`v2.search` for a method of a class below `v2/`."""
    folder, method = found.file.partition("/")[0], found.function.rpartition(".")[2]
    if folder == "client":
        return method
    return f"{folder}.{method}" if folder in _BY_NODE and method else ""


def _name_last(found: ProjectCall) -> str:
    """`createTweet` for `client.tweets.createTweet`."""
    return found.function.rpartition(".")[2]


def _list_endpoints() -> Iterator[tuple[str, list[str]]]:
    """What `TwitterAPI.request` takes: its methods, and the first part of the host."""
    from TwitterAPI.constants import ENDPOINTS

    for resource, (methods, subdomain, *_) in sorted(ENDPOINTS.items()):
        listed = cast("list[str]", methods if isinstance(methods, list) else [methods])
        yield f"request {resource}", [f"{method} {subdomain}" for method in listed]


if __name__ == "__main__":
    modules = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    FILE.write_text(write_clients(modules), "utf-8", newline="\n")
