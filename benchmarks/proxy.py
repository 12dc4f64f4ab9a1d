"""What the proxy costs: requests through `--intercept`, beside direct ones over https.

Run it with `python benchmarks/proxy.py`. One client with one connection; both kinds in turn, in
short rounds, so that what else runs on the machine meets both. The ratio is the median over all
rounds of the rate through the proxy by the direct rate.
"""

from __future__ import annotations

import statistics
from time import perf_counter

import requests

from mock_platform import MockPlatform

ROUNDS = 20
REQUESTS = 200


def _rate(session: requests.Session, url: str, headers: dict[str, str]) -> float:
    """Returns requests in a second."""
    begun = perf_counter()
    for _ in range(REQUESTS):
        session.get(url, headers=headers, timeout=60).raise_for_status()
    return REQUESTS / (perf_counter() - begun)


def main() -> None:
    """Print both rates and their ratio."""
    with MockPlatform.start(tls=True) as platform:
        headers = {"Authorization": f"Bearer {platform.credentials['bearer_token']}"}
        account = f"/12/accounts/{platform.credentials['accounts'][0]}"
        with platform.intercept() as variables, requests.Session() as through:
            through.trust_env = False
            through.proxies = {"https": variables["HTTPS_PROXY"]}
            through.verify = variables["MOCK_PLATFORM_CA"]
            with requests.Session() as direct:
                direct.trust_env = False
                direct.verify = str(platform.ca)
                rates = [
                    (
                        _rate(direct, f"{platform.base_url}{account}", headers),
                        _rate(through, f"https://ads-api.x.com{account}", headers),
                    )
                    for _ in range(ROUNDS)
                ]
    ratio = statistics.median(proxied / plain for plain, proxied in rates)
    plain, proxied = (statistics.median(column) for column in zip(*rates, strict=True))
    print(f"direct over https   {plain:8.0f} requests a second")
    print(f"through the proxy   {proxied:8.0f} requests a second")
    print(f"ratio               {ratio:8.2f}  (aim: at least 0.7)")


if __name__ == "__main__":
    main()
