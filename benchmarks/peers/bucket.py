"""An object's life in S3, five calls like the five requests on a card."""

from __future__ import annotations

from typing import Any

BODY = b'{"name": "Spring sale", "title": "Half price", "url": "https://shop.example.com/"}'


def five_calls(client: Any) -> None:
    """Create a bucket; put, read, list and delete an object."""
    created = client.create_bucket(Bucket="cards")
    assert created["ResponseMetadata"]["HTTPStatusCode"] == 200

    put = client.put_object(Bucket="cards", Key="spring", Body=BODY)
    assert put["ResponseMetadata"]["HTTPStatusCode"] == 200

    read = client.get_object(Bucket="cards", Key="spring")
    assert read["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert read["Body"].read() == BODY

    listed = client.list_objects_v2(Bucket="cards")
    assert [each["Key"] for each in listed["Contents"]] == ["spring"]

    deleted = client.delete_object(Bucket="cards", Key="spring")
    assert deleted["ResponseMetadata"]["HTTPStatusCode"] == 204
