"""Requests as shell commands: one call of `curl` that sends exactly one request.

People copy these commands, and whatever a record, a client or a fixture brings is in them. So
every command of the package is written here: each part is quoted, brackets and a first `@` have no
meaning for curl, and what a terminal would act on is escaped.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

SHOWN = ("-sS",)
"""No progress, but the reason if there is no answer."""
WITH_HEADERS = ("-sSi",)
_BETWEEN = " \\\n     "
_BRACKETS = frozenset("[]{}")
_DOTS = re.compile(r"/\.{1,2}(?:[/?]|$)")
_PLAIN = re.compile(r"[A-Za-z0-9 _.,:;/=+-]*", re.ASCII)
"""What means the same within double quotes and without them."""


class Variable(Struct, frozen=True):
    """A variable of the shell, in place of a value."""

    name: str


Words = str | Sequence[str | Variable]
"""A text, or the parts of one in which variables are."""


def write_curl(
    method: str,
    url: str,
    headers: Iterable[Words] = (),
    body: Words | None = None,
    *,
    options: Sequence[str] = SHOWN,
    user: Words | None = None,
    between: str = _BETWEEN,
) -> str:
    """Return the command that sends a request, for `sh` and all shells that follow POSIX.

    `headers` are `Name: value`; `options` are words for curl that are not of the request, `user` is
    the name and password of Basic authentication.
    """
    piped = isinstance(body, str) and not _is_shown_as_it_is(body)
    first = ["curl", *map(shlex.quote, options)]
    if _BRACKETS & set(url):
        first.append("--globoff")  # else `[1-50]` is fifty requests
    if _DOTS.search(url):
        first.append("--path-as-is")
    if method == "HEAD" and body is None:
        first.append("--head")  # with `-X HEAD` curl waits for a body
    elif method != "GET" or body is not None:
        first += ["-X", shlex.quote(method)]
    lines = [" ".join(first)]
    if user is not None:
        lines.append(f"-u {quote_words(user)}")
    named = list(headers)
    lines += [f"-H {quote_words(_write_header(each))}" for each in named]
    if body is not None:
        if not any(_starts_content_type(each) for each in named):
            lines.append("-H Content-Type:")  # none was sent, and curl adds that of a form
        # `-d` and `--data-binary` would send the file whose name follows an `@`.
        lines.append("--data-binary @-" if piped else f"--data-raw {quote_words(body)}")
    lines.append(quote_words(url))
    command = between.join(lines)
    return f"{_write_printf(str(body))} |{between}{command}" if piped else command


def split_at(text: str, variables: Mapping[str, str]) -> Words:
    """Return a text in parts: each value of `variables`, by its name, becomes that variable."""
    names = {value: name for name, value in variables.items() if value and value in text}
    if not names:
        return text
    longest = sorted(names, key=len, reverse=True)
    parts = re.split(f"({'|'.join(map(re.escape, longest))})", text)
    return [Variable(names[part]) if part in names else part for part in parts if part]


def quote_words(words: Words) -> str:
    """Return a text as one word of a shell command."""
    parts = [words] if isinstance(words, str) else list(words)
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) < len(parts) and all(_PLAIN.fullmatch(text) for text in texts):
        return '"' + "".join(_write_inside(parts)) + '"'
    quoted = [f'"${part.name}"' if isinstance(part, Variable) else _quote(part) for part in parts]
    return "".join(quoted) or "''"


# -- details ---------------------------------------------------------------------------------------


def _write_inside(parts: Sequence[str | Variable]) -> Iterable[str]:
    """Yield the parts of a text within double quotes."""
    for part, after in zip(parts, [*parts[1:], ""], strict=True):
        if isinstance(part, str):
            yield part
        else:
            joined = isinstance(after, str) and re.match(r"[A-Za-z0-9_]", after)
            yield f"${{{part.name}}}" if joined else f"${part.name}"


def _quote(text: str) -> str:
    if _is_shown_as_it_is(text):
        return shlex.quote(text)
    kept = text.rstrip("\n")  # the shell leaves out line ends after what a command prints
    ends = shlex.quote(text[len(kept) :]) if kept != text else ""
    return f'"$({_write_printf(kept)})"{ends}'


def _is_shown_as_it_is(text: str) -> bool:
    """Whether a text can be pasted into a terminal: no control characters, nothing invisible."""
    return text.replace("\n", "").isprintable()


def _write_printf(text: str) -> str:
    """Return the command that prints a text, with what must not be pasted as octal numbers.

    A terminal acts on control characters, even within quotes: one of them ends what is pasted.
    """
    shown = "".join(
        each if each not in "\\%" and _is_shown_as_it_is(each) else _write_octal(each)
        for each in text
    )
    if shown.startswith("-"):  # else an option of printf
        shown = _write_octal("-") + shown[1:]
    return f"printf {shlex.quote(shown)}"


def _write_octal(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogatepass"))


def _write_header(words: Words) -> Words:
    """Return a header as curl understands it: `Name;` sends one without a value."""
    if not isinstance(words, str):
        return words
    name, colon, value = words.partition(":")
    return f"{name};" if colon and not value.strip() else words


def _starts_content_type(words: Words) -> bool:
    first = words if isinstance(words, str) else words[0]
    return isinstance(first, str) and first.lower().startswith("content-type:")
