"""Compares two answers to the same request: status, headers and the form of the body.

A body is compared with the declared schema, and with the answer of the sandbox where the schema
leaves something open: formats of ids and moments, the keys of the envelope, all of a failure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from mock_platform.core.call import ABSENT
from mock_platform.core.description.openapi import template_path
from mock_platform.core.jsonio import canonical
from mock_platform.core.operation import Operation
from mock_platform.core.wire import WIRE_HEADER
from mock_platform.verification.compare.answers import ComparedAnswer, key_of
from mock_platform.verification.compare.compare import (
    Difference,
    DifferenceKind,
    Formats,
    find_differences,
    find_formats,
    find_kind,
    is_covered,
    is_id_name,
    list_properties,
    show,
)
from mock_platform.verification.compare.values import PathValues

_RATE = ("x-rate-limit-", "x-account-rate-limit-")
_ACCESS = "x-access-level"
_NOT_COMPARED = frozenset(
    {
        "content-length", "content-type", "content-encoding", "date", "server", "connection",
        "location", "set-cookie", "x-response-time", "x-transaction-id",
    }
)  # fmt: skip
"""Headers of one answer or connection alone; bodies are compared as they are without encoding."""
_MAX_RECORDS = 100
"""Records of one answer whose form is compared: series have thousands of equal form."""
_TEXTS = frozenset({"message", "detail", "title", "details", "error_description"})
_PROBLEMS = "/2/problems/"
_DATA_DEPENDENT = frozenset({"data", "includes", "errors", "next_token", "previous_token"})
_PAGE = frozenset({"next_cursor", "next_token", "previous_token"})


class Comparer:
    """Compares the answers to requests for the operations of one description."""

    def __init__(self, description: Mapping[str, Any], *, same_data: bool = False) -> None:
        self._paths: Mapping[str, Any] = description["paths"]
        self._components: Mapping[str, Any] = description["components"]["schemas"]
        self._same_data = same_data
        self._formats: dict[str, Formats] = {}
        self._flaws: dict[str, set[tuple[str, str]]] = {}
        """Kind and place of what the sandbox's own answers do, by operation: no difference."""
        self._seen: dict[tuple[str, str], set[int]] = {}
        """The records that were compared, by hash: an archive may have very many."""
        self._learned: set[tuple[str, int, int]] = set()
        """The sandbox's answers that show nothing new: operation, status and hash of the body."""

    def learn(self, operation: Operation, answer: ComparedAnswer) -> Any:
        """Keep what the sandbox's answer shows; return its body without what was seen before."""
        body = self._leave_out_seen(operation, "own", answer)
        if body is not ABSENT and answer.is_success:
            kept = self._formats.setdefault(operation.id, {})
            for where, forms in find_formats(body).items():
                kept.setdefault(where, {}).update(forms)
            flaws = self._check(operation, answer.status, body)
            self._flaws.setdefault(operation.id, set()).update((x.kind, x.where) for x in flaws)
        return body

    def _learn_once(self, operation: Operation, answer: ComparedAnswer) -> None:
        """Keep what the sandbox's answer shows, unless the same one was kept as a whole."""
        same = (operation.id, answer.status, hash(answer.body))
        if not answer.is_success or same in self._learned:
            return
        self.learn(operation, answer)
        if len(answer.records) <= _MAX_RECORDS:
            self._learned.add(same)

    def compare(
        self,
        operation: Operation,
        ours: ComparedAnswer,
        theirs: ComparedAnswer,
        own: PathValues | None = None,
        other: PathValues | None = None,
    ) -> list[Difference]:
        """Return how the other answer differs; `own` and `other` are texts to be left out."""
        # Another status is the only difference that is reported: headers and bodies of a success
        # and of a failure have nothing in common.
        if ours.status != theirs.status:
            here, there = ours.describe_status(), theirs.describe_status()
            return [Difference("status", "status", here, there)]
        found = list(compare_headers(operation, ours, theirs))
        if ours.json is ABSENT:
            return found
        if ours.body == theirs.body:
            self._learn_once(operation, ours)
            return found
        if theirs.json is ABSENT:
            return [*found, Difference("type", "(body)", "JSON", "something else")]
        if not ours.is_success:
            values = (own or {}, other or {})
            failures = _compare_failures(ours.json, theirs.json, "", values)
            return found + list(dict.fromkeys(failures))
        # Three sources say what is expected of a body. The declared schema; but what the sandbox
        # itself does not keep to is no difference (`flaws`). The forms of ids and moments that the
        # sandbox showed. And the keys around the records, which depend on the request, and so are
        # compared answer with answer. What one source has found at a place is not reported by the
        # next again.
        here = self.learn(operation, ours)
        there = self._leave_out_seen(operation, "other", theirs)
        flaws = self._flaws[operation.id]
        declared = self._check(operation, theirs.status, there)
        found += [each for each in declared if (each.kind, each.where) not in flaws]
        found += self._compare_formats(operation, there)
        seen = {(each.kind, each.where) for each in found} | flaws
        around = [
            *_compare_envelopes(
                ours, theirs, self._list_declared(operation, theirs.status, "meta")
            ),
            *_compare_echo(ours, theirs, own or {}, other or {}),
        ]
        found += [each for each in around if (each.kind, each.where) not in seen]
        found += _find_empty(here, there)
        if self._same_data:
            found += _compare_values(ours.json, theirs.json)
        return list(dict.fromkeys(found))

    def check_success(self, operation: Operation, answer: ComparedAnswer) -> list[Difference]:
        """Return how the body of a success differs from the declared schema."""
        return self._check(operation, answer.status, answer.json)

    def _check(self, operation: Operation, status: int, body: Any) -> list[Difference]:
        schema = self.find_schema(operation, status)
        if schema is None or body is ABSENT:
            return []
        return find_differences(body, schema, self._components)

    def _leave_out_seen(self, operation: Operation, side: str, answer: ComparedAnswer) -> Any:
        """Return a body without the records of a list that were compared before.

        The probes of an operation return the same records again and again; comparing them once
        takes a fifth of the time.
        """
        body = answer.json
        if not isinstance(body, dict) or not isinstance(body.get("data"), list):
            return body
        # By hash of the sorted JSON, so that the order of keys makes no new record.
        seen = self._seen.setdefault((operation.id, side), set())
        fresh: list[Any] = []
        for record in body["data"]:
            same = hash(canonical(record))
            if same not in seen and len(fresh) < _MAX_RECORDS:
                seen.add(same)
                fresh.append(record)
        return {**body, "data": fresh}

    def check_failure(self, operation: Operation, answer: ComparedAnswer) -> list[Difference]:
        """Return how a failure differs from what the operation declares for its status."""
        entry = self._find_entry(operation).get("responses", {})
        schemas = self._list_schemas(operation, answer.status, is_problem=_is_problem(answer.json))
        if not entry or operation.returns.media_type != "application/json":
            return []  # a page refuses with a page
        if str(answer.status) not in entry and "default" not in entry:
            declared = ", ".join(sorted(entry))
            return [Difference("status", "status", declared, answer.describe_status())]
        if not schemas:
            return []
        if answer.json is ABSENT:
            return [Difference("type", "(body)", "JSON", "something else")]
        # Of several kinds of JSON it is the one that the body has: another media type is a
        # difference of its own, and hides nothing.
        found = [find_differences(answer.json, each, self._components) for each in schemas]
        return [
            each
            for each in min(found, key=len)
            if each.kind != "missing" or not _repeats(answer.json, each.where)
        ]

    def find_schema(self, operation: Operation, status: int) -> Mapping[str, Any] | None:
        """Return the JSON schema of an answer with this status, if one is declared."""
        return next(iter(self._list_schemas(operation, status)), None)

    def _list_schemas(
        self, operation: Operation, status: int, *, is_problem: bool = False
    ) -> list[Mapping[str, Any]]:
        """Return the JSON schemas of the answers with this status: of problems alone, if it is."""
        answers = self._find_entry(operation).get("responses", {})
        content = answers.get(str(status), answers.get("default", {}) if status >= 400 else {})
        kinds: Mapping[str, Any] = content.get("content", {})
        word = "problem+json" if is_problem and any("problem" in x for x in kinds) else "json"
        return [found["schema"] for kind, found in kinds.items() if word in kind]

    def _find_entry(self, operation: Operation) -> Mapping[str, Any]:
        """Return the description of an operation; some are described under a further path."""
        for path in (operation.path, *operation.also):
            found = self._paths.get(template_path(path), {}).get(operation.method.lower())
            if found is not None:
                entry: Mapping[str, Any] = found
                return entry
        return {}

    def _list_declared(self, operation: Operation, status: int, name: str) -> frozenset[str]:
        """Return the keys that are declared for an object within the answers with this status."""
        schema = self.find_schema(operation, status) or {}
        within = list_properties(schema, self._components).get(name, {})
        return frozenset(list_properties(within, self._components))

    def _compare_formats(self, operation: Operation, body: Any) -> Iterator[Difference]:
        known = self._formats.get(operation.id, {})
        for where, forms in find_formats(body).items():
            wanted = known.get(where)
            for form, example in forms.items() if wanted else ():
                if not is_covered(form, wanted or {}):
                    expected = " or ".join(sorted(wanted or ()))
                    yield Difference("format", where, expected, form, show(example, 60))


def compare_headers(
    operation: Operation, ours: ComparedAnswer, theirs: ComparedAnswer
) -> Iterator[Difference]:
    """Return headers that are missing, other media types, and other rate limits."""
    if ours.body and ours.media_type != theirs.media_type:
        got = theirs.headers.get("content-type", "")
        yield Difference("media type", "content-type", ours.media_type, show(got) or "absent")
    elif ours.body and theirs.charset not in {"", ours.charset}:
        yield Difference("media type", "charset", ours.charset or "absent", show(theirs.charset))
    # A limit is a documented number and has to be equal; on the recorded wire it is that of what
    # the app has bought.
    is_documented = not ours.markers.get(WIRE_HEADER.lower(), "").startswith("recorded")
    for name, value in ours.headers.items():
        if name in _NOT_COMPARED:
            continue
        # Remaining requests and reset times differ by nature; of those only the form is compared.
        # Other headers must be there; only those of the interface itself (`x-…`) must be equal as
        # well, but for what the credentials allow.
        is_rate = name.startswith(_RATE)
        is_number = is_rate and not (is_documented and name.endswith("-limit"))
        kind: DifferenceKind = "rate" if is_rate else "header"
        shown = "a number" if is_number else show(value)
        found = theirs.headers.get(name)
        if found is None:
            yield Difference(kind, name, shown, "absent")
        elif is_number:
            if not found.isdigit():
                yield Difference(kind, name, shown, show(found))
        elif found != value and name.startswith("x-") and name != _ACCESS:
            yield Difference(kind, name, shown, show(found))
    if is_documented:
        yield from _compare_declared_limits(operation, ours, theirs)


def _compare_declared_limits(
    operation: Operation, ours: ComparedAnswer, theirs: ComparedAnswer
) -> Iterator[Difference]:
    """Compare rate headers that only the other server sends with what is declared."""
    for prefix, per in (("x-rate-limit", False), ("x-account-rate-limit", True)):
        name = f"{prefix}-limit"
        got = theirs.headers.get(name, "")
        if not got or name in ours.headers:
            continue
        counts = {str(x.count) for x in operation.limits if (x.per == "account") == per}
        if got not in counts:
            expected = " or ".join(sorted(counts, key=int)) or "absent"
            yield Difference("rate", name, expected, show(got))


def _compare_envelopes(
    ours: ComparedAnswer, theirs: ComparedAnswer, declared: Collection[str]
) -> Iterator[Difference]:
    """Compare the keys around the records: both servers got the same request.

    Of those `declared` in `meta`, some are only there if the list has records.
    """
    # An empty list leaves out keys that a full one has. If only one side has records, their absence
    # says something about the data and nothing about the interface.
    alike = bool(ours.records) == bool(theirs.records)
    if not isinstance(ours.json, dict) or not isinstance(theirs.json, dict):
        return
    places: list[tuple[str, Any, Any]] = [("", ours.json, theirs.json)]
    for names in (("request",), ("request", "params"), ("meta",)):
        here, there = _dig(ours.json, names), _dig(theirs.json, names)
        places.append((".".join(names), here, there))
    for where, here, there in places:
        if not isinstance(here, dict) or not isinstance(there, dict):
            continue
        for name in here.keys() ^ there.keys():
            place = f"{where}.{name}" if where else name
            if name in _DATA_DEPENDENT and not (name == "data" and ours.records and theirs.records):
                continue
            if where == "meta" and name in declared and not alike:
                continue
            if (
                not where
                and "data" not in ours.json
                and not (_is_same_record(here, there) and not _names_record(name, here.get(name)))
            ):
                continue  # a record without an envelope
            if name in here:
                yield Difference("missing", place, find_kind(here[name]), "absent")
            elif where.startswith(("request", "meta")):
                yield Difference("extra", place, "absent", find_kind(there[name]))
    yield from _compare_records(ours, theirs)


def _compare_echo(
    ours: ComparedAnswer, theirs: ComparedAnswer, own: PathValues, other: PathValues
) -> Iterator[Difference]:
    """Compare the parameters that the answers repeat: those that were sent to each server."""
    here, there = (_dig(each.json, ("request", "params")) for each in (ours, theirs))
    if not isinstance(here, dict) or not isinstance(there, dict):
        return
    for name in sorted(here.keys() & there.keys()):
        place, mine, got = f"request.params.{name}", here[name], there[name]
        if own.get(name) == other.get(name):
            if mine != got:
                yield Difference("value", place, show(mine), show(got))
        elif str(mine) == own.get(name) and str(got) != other.get(name):
            yield Difference("value", place, "the value that was sent", show(got))


def _compare_records(ours: ComparedAnswer, theirs: ComparedAnswer) -> Iterator[Difference]:
    """Compare the keys of records that both servers have."""
    mine = dict(zip(ours.keys, ours.records, strict=True))
    place = "data[]" if theirs.is_list else "data"
    for key, record in zip(theirs.keys, theirs.records, strict=True):
        same = mine.get(key, {})
        if same.keys() <= record.keys() or not _is_same_record(same, record):
            continue
        lacking = (n for n in same.keys() - record.keys() if not _names_record(n, same[n]))
        for name in sorted(lacking):
            yield Difference("missing", f"{place}.{name}", find_kind(same[name]), "absent")


def _is_same_record(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two records with one id tell the same: others may lack what is optional."""
    scalars = (str, int, float, bool)
    shared = [name for name in one.keys() & other.keys() if isinstance(one[name], scalars)]
    return bool(shared) and all(one[name] == other[name] for name in shared)


def _names_record(name: str, value: Any) -> bool:
    """Return whether a key holds another record, or its id: not every record has one to name."""
    return is_id_name(name) or (isinstance(value, dict) and any(is_id_name(key) for key in value))


def _find_empty(ours: Any, theirs: Any) -> Iterator[Difference]:
    """Return empty texts where the sandbox serves null or a text that is not empty."""
    there = [where for where, value in _scalars(theirs) if value == ""]
    if not there:
        return
    served = list(_scalars(ours))
    here, nulls = dict(served), {where for where, value in served if value is None}
    for where in there:
        name = where.rpartition(".")[2]
        if where in nulls or (name in _PAGE and here.get(where) != ""):
            yield Difference(
                "empty", where, "null" if where in nulls else "a text", "an empty text"
            )


def _is_problem(body: Any) -> bool:
    """Whether the body of a failure is a problem, whatever its media type says."""
    return isinstance(body, dict) and {"type", "title"} <= body.keys()


def _repeats(body: Any, name: str) -> bool:
    """Whether a problem has what a missing key would say: as status, or in its only error."""
    if not _is_problem(body):
        return False
    errors = body.get("errors")
    return name == "status" or (
        isinstance(errors, list)
        and len(errors) == 1
        and isinstance(errors[0], dict)
        and name in errors[0]
    )


def _compare_failures(
    here: Any, there: Any, where: str, values: tuple[PathValues, PathValues]
) -> Iterator[Difference]:
    """Compare two failures: with the same request everything but the server's own ids is equal."""
    mine, got = find_kind(here), find_kind(there)
    if mine != got:
        yield Difference("type", where or "(body)", mine, got)
    elif isinstance(here, dict):
        for name in [each for each in here if each not in there]:
            if where or not _repeats(there, name):
                place = f"{where}.{name}" if where else name
                yield Difference("missing", place, find_kind(here[name]), "absent")
        for name in there:
            place = f"{where}.{name}" if where else name
            if name not in here:
                yield Difference("extra", place, "absent", find_kind(there[name]))
            else:
                yield from _compare_failures(here[name], there[name], place, values)
    elif isinstance(here, list):
        if len(here) != len(there):
            yield Difference("value", f"{where}[]", f"{len(here)} items", f"{len(there)} items")
        for one, other in zip(here, there, strict=False):
            yield from _compare_failures(one, other, f"{where}[]", values)
    else:
        yield from _compare_texts(_hide(here, values[0]), _hide(there, values[1]), where)


def _compare_texts(expected: Any, found: Any, where: str) -> Iterator[Difference]:
    """Compare two single values of failures."""
    name = where.rpartition(".")[2]
    if name == "type":  # a problem's type is known by its slug; hosts have several names
        expected, found = (str(each).rpartition(_PROBLEMS)[2] for each in (expected, found))
    if expected != found:
        kind: DifferenceKind = "wording" if name in _TEXTS else "value"
        if name == "code":
            kind = "code"
        yield Difference(kind, where, show(expected), show(found))


def _compare_values(here: Any, there: Any, where: str = "") -> Iterator[Difference]:
    """Compare values, of servers that have the same records."""
    if isinstance(here, dict) and isinstance(there, dict):
        for name in here.keys() & there.keys() - _PAGE:
            place = f"{where}.{name}" if where else name
            yield from _compare_values(here[name], there[name], place)
    elif isinstance(here, list) and isinstance(there, list):
        # Records are paired by their keys, because two servers may sort equal ones differently;
        # anything else in a list is paired by its position.
        others = {key_of(each): each for each in there if isinstance(each, dict)}
        for position, each in enumerate(here):
            if isinstance(each, dict) and key_of(each) in others:
                yield from _compare_values(each, others[key_of(each)], f"{where}[]")
            elif isinstance(each, dict):
                yield Difference("value", f"{where}[]", show(key_of(each)), "absent")
            elif position >= len(there) or there[position] != each:
                got = show(there[position]) if position < len(there) else "absent"
                yield Difference("value", f"{where}[]", show(each), got)
    elif here != there and type(here) is type(there):
        yield Difference("value", where, show(here), show(there))


def _scalars(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _scalars(item, f"{where}.{name}" if where else name)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item, f"{where}[]")
    else:
        yield where, value


def _hide(value: Any, values: PathValues) -> Any:
    """Return a value in which a server's own ids are replaced by their names."""
    if not isinstance(value, str):
        return next((f"{{{name}}}" for name, own in values.items() if str(value) == own), value)
    for name, own in values.items():
        # The same request has other ids on each server, and messages quote them. With the ids
        # replaced by their names, equal messages are equal texts.
        if own:
            value = value.replace(own, f"{{{name}}}")
    return value


def _dig(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
