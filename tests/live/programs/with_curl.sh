# curl: a read with a bearer token, as in the platform's own documentation.
set -eu
curl -sS --fail-with-body "https://api.x.com/2/users/$MOCK_PLATFORM_USER_ID" \
     -H "Authorization: Bearer $MOCK_PLATFORM_BEARER_TOKEN" | grep -q "$MOCK_PLATFORM_USER_ID"
