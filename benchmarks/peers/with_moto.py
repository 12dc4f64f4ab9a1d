"""Moto as its documentation shows it: the decorator, and a client made within."""

from __future__ import annotations

import boto3
from bucket import five_calls
from moto import mock_aws


@mock_aws
def test_object(number: int) -> None:
    """An object's life."""
    five_calls(boto3.client("s3", region_name="us-east-1"))
