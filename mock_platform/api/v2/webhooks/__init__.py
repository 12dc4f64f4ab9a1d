"""Webhooks: registered addresses, their challenges, and the replay of events."""

from mock_platform.api.v2.webhooks import event_log, operations, replay_jobs, validation

OPERATIONS = (*operations.OPERATIONS,)
TABLES = (*validation.TABLES, *event_log.TABLES, *replay_jobs.TABLES)
KINDS = (*operations.KINDS,)
