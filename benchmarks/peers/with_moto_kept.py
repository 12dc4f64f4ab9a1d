"""Moto, with what boto3 reads from its files kept from test to test."""

from __future__ import annotations

import boto3
from bucket import five_calls
from moto import mock_aws

SESSION = boto3.Session()


@mock_aws
def test_object(number: int) -> None:
    """An object's life."""
    five_calls(SESSION.client("s3", region_name="us-east-1"))
