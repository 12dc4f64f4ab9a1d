"""Targeting: criteria of line items, the values that they may name, keywords, estimates."""

from mock_platform.api.ads import CAMPAIGN_MANAGEMENT, NOT_SHOWN
from mock_platform.api.ads.targeting import audience_estimate, keywords, operations, options
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (
    *operations.OPERATIONS,
    *audience_estimate.OPERATIONS,
    *keywords.OPERATIONS,
    *options.OPERATIONS,
)
TABLES = (*options.TABLES,)
AGENT_TOOLS = {
    "targeting_criteria.list": "list_targeting_criteria",
    "targeting_criteria.create": "add_targeting_criterion",
    "targeting_criteria.delete": "remove_targeting",
    "targeting_options.interests": "search_targeting_interests",
    "targeting_options.locations": "search_targeting_locations",
}
ORIGINAL_NAMES = Pairs({"post_volume": "tweet_volume", "top_posts": "top_tweets"})
SPEC_SENTENCES = {
    "audience-estimate": "Audience estimate response shape: not shown",
    "insights": "Results are scoped to a single country",
    "targeting-criteria": NOT_SHOWN,
    "targeting-options": CAMPAIGN_MANAGEMENT,
    "targeting-suggestions": CAMPAIGN_MANAGEMENT,
}
