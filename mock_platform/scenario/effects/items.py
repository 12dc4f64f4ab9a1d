"""`items: {INDEX: error}` — some items of a batch are refused.

A batch of the advertising interface is all or nothing: its `operation_errors` name the items, and
nothing is kept. Products and rules of the filtered stream are judged one by one, and only the named
ones are refused. Products end as ERROR; rules get an entry of `errors`, which `duplicate-rules` and
`invalid-rules` choose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mock_platform.api.ads.conventions import Batch
from mock_platform.api.v2.filtered_stream.rules import describe_duplicate, describe_invalid
from mock_platform.core.call import Call, Reply
from mock_platform.core.documents.forms import (
    EntriesForm,
    TypedForm,
    WordForm,
    make_keyed,
    make_object,
)
from mock_platform.core.failures.errors import AdsError, BatchFailure
from mock_platform.core.jsonio import dumps, loads
from mock_platform.core.operation import Operation
from mock_platform.scenario.effects.effect import EffectKind, Staging
from mock_platform.scenario.effects.error import NAMED, make_message

_PRODUCTS = "products"
_RULES = "add"
_DUPLICATE = "duplicate-rules"
_CODES = (*NAMED, _DUPLICATE, "invalid-rules")


class ItemError(Struct, frozen=True):
    """The error of one item of a batch."""

    code: str = "INVALID_PARAMETER"
    message: str | None = None
    parameter: str = ""

    @property
    def text(self) -> str:
        """The message, or one made from the code."""
        return self.message or make_message(self.code)

    def as_error(self) -> AdsError:
        """Return the error as `operation_errors` shows it."""
        return AdsError(self.code, self.text, self.parameter)


class ItemsEffect(Struct, frozen=True):
    """Refuses items by their index; indexes beyond the batch refuse nothing."""

    errors: Mapping[int, ItemError]

    def answer(self, staging: Staging, proceed: Callable[[], Reply]) -> Reply:
        """Refuse the items; return the true answer if the request has none of them."""
        call = staging.call
        if isinstance(call.params.get(_PRODUCTS), list):
            return self._refuse_products(call, proceed)
        if isinstance(call.params.get(_RULES), list):
            return self._refuse_rules(staging, proceed)
        items = call.params.get("items", [])
        count = len(items)
        if not any(index < count for index in self.errors):
            call.warn(f"the scenario refuses items, but the request has {count} of them")
            return proceed()
        errors = [
            [self.errors[index].as_error()] if index in self.errors else []
            for index in range(count)
        ]
        raise BatchFailure(errors, [item.describe(call.path_params) for item in items])

    def foresee(self, call: Call) -> BatchFailure:
        """Return the refusal of a batch; products and rules are answered with 200."""
        return BatchFailure([[error.as_error()] for error in self.errors.values()], [{}])

    def _refuse_products(self, call: Call, proceed: Callable[[], Reply]) -> Reply:
        sent = call.params[_PRODUCTS]
        call.params[_PRODUCTS] = [p for index, p in enumerate(sent) if index not in self.errors]
        reply = proceed()
        body = loads(reply.body)
        results = iter(body["data"]["products_response"])
        body["data"]["products_response"] = [
            _make_error_result(product, self.errors[index])
            if index in self.errors
            else next(results)
            for index, product in enumerate(sent)
        ]
        return replace(reply, body=dumps(body))

    def _refuse_rules(self, staging: Staging, proceed: Callable[[], Reply]) -> Reply:
        call = staging.call
        sent = call.params[_RULES]
        call.params[_RULES] = [rule for index, rule in enumerate(sent) if index not in self.errors]
        refused = [
            _make_rule_error(staging, rule["value"], self.errors[index])
            for index, rule in enumerate(sent)
            if index in self.errors
        ]
        reply = proceed()
        body = loads(reply.body)
        if refused and "summary" in body.get("meta", {}):
            for name in ("not_created", "invalid"):
                body["meta"]["summary"][name] += len(refused)
            body["errors"] = [*body.get("errors", ()), *refused]
        return replace(reply, body=dumps(body))


def takes_items(operation: Operation) -> bool:
    """Return whether an operation takes items that can be refused one by one."""
    names = () if operation.params is None else operation.params().load_fields
    return isinstance(operation.returns, Batch) or _PRODUCTS in names or _RULES in names


def _make_rule_error(staging: Staging, value: str, error: ItemError) -> dict[str, Any]:
    base_url = staging.call.base_url
    if error.code == _DUPLICATE:
        earlier = {"value": value, "id": staging.world.ids.snowflake()}
        return describe_duplicate(earlier, base_url)
    return describe_invalid(value, [error.message or "no viable alternative"], base_url)


def _make_error_result(product: Any, error: ItemError) -> dict[str, Any]:
    merchant_id = product.get("id") if isinstance(product, dict) else None
    return {
        "warnings": [],
        "errors": [error.text],
        "product_key": None,
        "id": merchant_id,
        "status": "ERROR",
    }


def _make(value: Mapping[str, Any]) -> ItemsEffect:
    found: dict[int, ItemError] = {}
    for index, error in value["items"].items():
        found[int(index)] = ItemError(**error) if isinstance(error, dict) else ItemError(error)
    return ItemsEffect(found)


_ERROR = make_object(
    {
        "code": (WordForm(_CODES), "The named code of the error.", "INVALID_PARAMETER"),
        "message": (WordForm(), "Its text.", "made from the code"),
        "parameter": (WordForm(least=1), "The parameter that it names.", "none"),
    },
    least=1,
)
KIND = EffectKind(
    "items",
    _make,
    form=make_keyed(
        "items",
        EntriesForm(
            TypedForm(
                text=WordForm(_CODES),
                object=_ERROR,
                what="a named code, or an object with code, message, parameter",
            ),
            pattern="0|[1-9][0-9]{0,4}",
            meaning="the index of an item, from 0",
            most=3000,
        ),
        "Refuses items of a batch by their index, from 0.",
    ),
    answers=True,
    acts_on="operation",
)
