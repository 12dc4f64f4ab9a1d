"""Analytics: the figures of ads, asked for at once or computed by a job."""

from mock_platform.api.ads import CAMPAIGN_MANAGEMENT
from mock_platform.api.ads.analytics import jobs, operations
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (
    *operations.OPERATIONS,
    *jobs.OPERATIONS,
)
TABLES = (
    *operations.TABLES,
    *jobs.TABLES,
)
KINDS = (*jobs.KINDS,)
EXAMPLE_PATHS = {
    "job_id": "1990000000000000777",
    "file_name": "q7Vd2mXk9TzR4bLw8HcN3sYf6JpG1aUe5KoQiDxBvMt.json.gz",
}
AGENT_TOOLS = {
    "stats.get": "get_account_stats",
    "stats.active_entities": "get_active_entities",
    "stats.reach.campaigns": "get_campaign_reach",
}
ORIGINAL_NAMES = Pairs({"reposts": "retweets", "posts_send": "tweets_send"})
SPEC_SENTENCES = {
    "stats": CAMPAIGN_MANAGEMENT,
    "stats-jobs": CAMPAIGN_MANAGEMENT,
}
