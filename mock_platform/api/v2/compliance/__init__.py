"""Compliance: streams that say what became of posts, users and likes, and jobs that look it up."""

from mock_platform.api.v2.compliance import jobs, streams
from mock_platform.core.original_names.translation import Pairs

OPERATIONS = (*streams.OPERATIONS, *jobs.OPERATIONS)
TABLES = jobs.TABLES
KINDS = jobs.KINDS
_POST = Pairs({"post": "tweet"})
ORIGINAL_NAMES = Pairs(
    {
        "edit_post_ids": "edit_tweet_ids",
        "initial_post_id": "initial_tweet_id",
        "post_edit": "tweet_edit",
        "public_post_notice": "public_tweet_notice",
        "public_post_unviewable": "public_tweet_unviewable",
        "quote_post_id": "quote_tweet_id",
        "up_to_post_id": "up_to_tweet_id",
    },
    values={"type": {"posts": "tweets"}},
    within=dict.fromkeys(
        (
            *("delete", "drop", "undrop", "withheld", "post_edit"),
            *("public_post_notice", "public_post_unviewable"),
        ),
        _POST,
    ),
)
EXAMPLE_PATHS = jobs.EXAMPLE_PATHS
PUBLISHED_IDS = {
    "posts_compliance_stream.open": "streamPostsCompliance",
    "users_compliance_stream.open": "streamUsersCompliance",
    "likes_compliance_stream.open": "streamLikesCompliance",
    "post_label_stream.open": "streamLabelsCompliance",
    "compliance_jobs.list": "getComplianceJobs",
    "compliance_jobs.create": "createComplianceJobs",
    "compliance_jobs.get": "getComplianceJobsById",
}
