"""How operations of the advertising interface grow with the records of an account.

Run it with `python benchmarks/advertising.py`. Milliseconds below the edge, medians; the ratio is
to the smallest account of the same run and should stay near one, but for the batch.
"""

from __future__ import annotations

import statistics
from typing import Any
from urllib.parse import urlsplit

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.core.call import Call, Reply
from mock_platform.core.jsonio import dumps, loads
from mock_platform.platform import Platform, load_base
from mock_platform.settings import Settings
from mock_platform.world.clock import UPTIME
from mock_platform.world.store.interface import Record
from mock_platform.world.store.memory import Base

HOST = "http://127.0.0.1:8080"
ACCOUNT = "18ce54d4x5t"
CATALOG = "1547080787865939968"
SIZES = (100, 10_000, 100_000)
CAMPAIGN_SIZES = (500, 10_000)
PER_CAMPAIGN = 50


def grown(size: int) -> Platform:
    """A platform whose well-known account has so many line items, media and products."""
    base = load_base(Settings())
    tables = {name: {k: row.record for k, row in rows.items()} for name, rows in base.rows.items()}
    line_item = tables["line_items"]["itttx"]
    product = next(iter(tables["products"].values()))
    media = next(m for m in tables["media_library"].values() if m["_account_id"] == ACCOUNT)
    for number in range(size):
        key = f"z{number:x}"
        tables["line_items"][key] = line_item | {"id": key, "name": f"Item {number:06}"}
        merchant = f"SKU-{number}"
        tables["products"][key] = product | {"product_key": key, "id": merchant}
        tables["media_library"][f"3_{number}"] = media | {
            "media_key": f"3_{number}",
            "name": f"Autumn picture {number}",
            "file_name": f"{'harbour' if number % 97 == 5 else 'street'}-{number % 100}.png",
        }
        user: Record = {
            "_id": key,
            "_audience_id": "1nmth",
            "identifiers": {"email": [f"{number:064x}"]},
            "effective_at": None,
            "expires_at": None,
        }
        tables["audience_users"][key] = user
    return Platform(Settings(limits="off"), base=Base(tables))


class Caller:
    """Sends requests below the edge and remembers what they took."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        token = credentials(platform.worlds.default)["bearer_token"]
        self.headers = [("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")]

    def time(self, method: str, target: str, body: Any = None, times: int = 60) -> float:
        """Median milliseconds of one request; the first two build indexes and do not count."""
        data = b"" if body is None else dumps(body)
        taken = []
        for _ in range(times + 2):
            start = UPTIME()
            self.send(method, target, data)
            taken.append(UPTIME() - start)
        return statistics.median(taken[2:]) * 1000

    def send(self, method: str, target: str, data: bytes = b"") -> Reply:
        """One request that must succeed."""
        parts = urlsplit(target)
        call = Call(method, HOST + target, parts.path, HOST, self.headers, data, parts.query)
        reply = self.platform.handle(call)
        if reply.status != 200:
            raise RuntimeError(f"{method} {target}: {reply.status} {reply.body[:200]!r}")
        return reply


def measure() -> dict[str, dict[int, float]]:
    """Milliseconds by operation and size."""
    found: dict[str, dict[int, float]] = {}
    account = f"/12/accounts/{ACCOUNT}"
    batch = [
        {"operation_type": "Update", "params": {"users": [{"email": [f"{n + 10**9:064x}"]}]}}
        for n in range(2500)
    ]
    for size in SIZES:
        caller = Caller(grown(size))
        template = caller.platform.base.rows["products"]["z0"].record
        sent = {k: v for k, v in template.items() if v is not None and k[0] != "_"}
        upserts = [sent | {"id": f"NEW-{n}"} for n in range(25)]
        figures = {
            "one record": caller.time("GET", f"{account}/line_items/z5"),
            "page of 200": caller.time("GET", f"{account}/line_items?count=200"),
            "page of 200, sorted, from a cursor": _next_page(caller, account),
            "total count": caller.time(
                "GET", f"{account}/line_items?with_total_count=true&count=1"
            ),
            "prefix search, ten hits": caller.time("GET", f"{account}/line_items?q=item%20000005"),
            "term search, each hit": caller.time("GET", f"{account}/media_library?q=autumn"),
            "term search, a hundredth": caller.time(
                "GET", f"{account}/media_library?q=harbour%20picture"
            ),
            "term search, none": caller.time("GET", f"{account}/media_library?q=winter"),
            "media library, change of a name": caller.time(
                "PUT", f"{account}/media_library/3_5?name=Autumn%20evening"
            ),
            "upsert of 25 products": caller.time(
                "PUT", f"/12/product_catalogs/{CATALOG}/products", {"products": upserts}, 20
            ),
            "audience batch of 2,500": caller.time(
                "POST", f"{account}/custom_audiences/1nmth/users", batch, 8
            ),
        }
        for name, value in figures.items():
            found.setdefault(name, {})[size] = value
    return found


def measure_campaigns() -> dict[str, dict[int, float]]:
    """Milliseconds by operation and number of line items, 50 to a campaign, each with a post."""
    found: dict[str, dict[int, float]] = {}
    account = f"/12/accounts/{ACCOUNT}"
    for size in CAMPAIGN_SIZES:
        caller = Caller(_with_campaigns(size))
        figures = {
            "campaigns, page of 200": caller.time(
                "GET", f"{account}/campaigns?count=200", times=20
            ),
            "one campaign": caller.time("GET", f"{account}/campaigns/c0"),
            "change of a campaign": caller.time("PUT", f"{account}/campaigns/c0?name=Renamed"),
            "line items of two campaigns": caller.time(
                "GET", f"{account}/line_items?campaign_ids=c0,c1&with_total_count=true"
            ),
            "line items of all campaigns": caller.time(
                "GET",
                f"{account}/line_items?count=50&campaign_ids="
                + ",".join(f"c{number}" for number in range(size // PER_CAMPAIGN)),
            ),
        }
        twenty = f"{account}/campaigns?campaign_ids=" + ",".join(f"c{n}" for n in range(20))
        paid = Caller(_with_campaigns(size, per_campaign=25, funding="m2k8s"))
        bare = Caller(_with_campaigns(size, per_campaign=size // 20, shown=False))
        figures |= {
            "20 campaigns, one instrument pays all": paid.time("GET", twenty, times=20),
            "20 campaigns that have nothing to show": bare.time("GET", twenty, times=20),
        }
        for name, value in figures.items():
            found.setdefault(name, {})[size] = value
    return found


def _with_campaigns(
    size: int, *, per_campaign: int = PER_CAMPAIGN, funding: str = "lygyi", shown: bool = True
) -> Platform:
    """A platform whose account has so many line items more, in campaigns of their own.

    `funding` pays for them; m2k8s has an amount that they share. `shown` says whether they have a
    post to show.
    """
    base = load_base(Settings())
    tables = {name: {k: row.record for k, row in rows.items()} for name, rows in base.rows.items()}
    templates = {
        "campaigns": tables["campaigns"]["8x0ab"]
        | {"budget_optimization": "LINE_ITEM", "funding_instrument_id": funding},
        "line_items": tables["line_items"]["itttx"],
        "promoted_posts": tables["promoted_posts"]["1efwlo"],
    }
    for number in range(size):
        campaign, item = f"c{number // per_campaign}", f"l{number}"
        own: dict[str, Record] = {
            "campaigns": {"id": campaign},
            "line_items": {"id": item, "campaign_id": campaign, "end_time": None},
            "promoted_posts": {"id": f"p{number}", "line_item_id": item},
        }
        if not shown:
            del own["promoted_posts"]
        for table, fields in own.items():
            tables[table][fields["id"]] = templates[table] | fields
    return Platform(Settings(limits="off"), base=Base(tables))


def _next_page(caller: Caller, account: str) -> float:
    """The page behind the first one, where there is one."""
    target = f"{account}/line_items?count=200&sort_by=bid_amount_local_micro-desc"
    cursor = loads(caller.send("GET", target).body)["next_cursor"]
    return caller.time("GET", f"{target}&cursor={cursor}" if cursor else target)


def main() -> None:
    """Print the tables."""
    for sizes, found in ((CAMPAIGN_SIZES, measure_campaigns()), (SIZES, measure())):
        print(f"{'milliseconds':38}" + "".join(f"{size:>18,}" for size in sizes))
        for name, values in found.items():
            first = values[sizes[0]]
            cells = (f"{values[size]:9.3f} x{values[size] / first:5.2f}" for size in sizes)
            print(f"{name:38}" + "".join(f"{cell:>18}" for cell in cells))


if __name__ == "__main__":
    main()
