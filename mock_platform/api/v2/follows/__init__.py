"""Follows: who follows whom, and requests to follow protected users."""

from mock_platform.api.v2 import OTHER_SHAPES
from mock_platform.api.v2.follows import operations

OPERATIONS = (*operations.OPERATIONS,)
SPEC_SENTENCES = {"follows": OTHER_SHAPES}
