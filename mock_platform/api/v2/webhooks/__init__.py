"""Webhooks: registered addresses, their challenges, and the replay of events."""

from mock_platform.api.v2 import PAYLOADS
from mock_platform.api.v2.webhooks import event_log, operations, validation

OPERATIONS = (*operations.OPERATIONS,)
TABLES = (*validation.TABLES, *event_log.TABLES)
KINDS = (*operations.KINDS,)
SPEC_SENTENCES = {
    "replay": "Replay job states and transitions: not shown",
    "replay.activity-envelope": PAYLOADS,
    "replay.to-date-exclusive": "its exact role as the end of the window: not shown",
    "replay.window": "events from up to the past 24 hours",
    "webhooks": "Fields of the webhook configuration record beyond its identifier: not shown",
}
PUBLISHED_IDS = {
    "webhooks.list": "getWebhooks",
    "webhooks.create": "createWebhooks",
    "webhooks.validate": "validateWebhooks",
    "webhooks.delete": "deleteWebhooks",
    "webhooks.replay": "createWebhookReplayJob",
}
