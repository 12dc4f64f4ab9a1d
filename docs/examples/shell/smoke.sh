#!/usr/bin/env bash
# A smoke test with curl alone, in a world of its own:  mock-platform run -- ./smoke.sh
# Beside a server that wants a control token, MOCK_PLATFORM_CONTROL_TOKEN holds it.
set -euo pipefail

: "${MOCK_PLATFORM_URL:?Run me as: mock-platform run -- $0}"

control="$MOCK_PLATFORM_URL/~smoke/_mock"
account="$MOCK_PLATFORM_URL/~smoke/12/accounts/$MOCK_PLATFORM_ACCOUNT_ID"
token="X-Mock-Control-Token: ${MOCK_PLATFORM_CONTROL_TOKEN:-none}"
bearer="Authorization: Bearer $MOCK_PLATFORM_BEARER_TOKEN"
json='Content-Type: application/json'
answer=$(mktemp)
fault=$(mktemp)
trap 'rm -f "$answer" "$fault"' EXIT

# expect STATUS WHAT CURL-ARGUMENTS…   000 is no answer at all
expect() {
  local wanted=$1 what=$2 status
  shift 2
  status=$(curl -sS --max-time 10 -o "$answer" -w '%{http_code}' "$@" 2> "$fault") || true
  if [[ $status != "$wanted" ]]; then
    echo "FAILED $what: status $status instead of $wanted: $(cat "$answer" "$fault")" >&2
    exit 1
  fi
  echo "ok     $what ($status)"
}

# holds TEXT WHAT   the last answer
holds() {
  if ! grep -qF -- "$1" "$answer"; then
    echo "FAILED $2: no $1 in $(cat "$answer")" >&2
    exit 1
  fi
  echo "ok     $2"
}

expect 200 'a world for this script' -X PUT -H "$token" "$MOCK_PLATFORM_URL/_mock/worlds/smoke"
expect 204 'which begins anew' -X POST -H "$token" "$control/reset"

expect 401 'without credentials nobody reads' "$account"
expect 200 'the account is read' -H "$bearer" "$account"
holds '"name":"Harbor Roasters"' 'it is the one of the fixtures'

expect 200 'a line item is paused' -X PUT -H "$bearer" "$account/line_items/itttx?entity_status=PAUSED"
expect 200 'its record is there' -H "$token" "$control/state/line_items/itttx"
holds '"entity_status":"PAUSED"' 'and says so'
expect 400 'a status that does not exist is refused' -X PUT -H "$bearer" \
  "$account/line_items/itttx?entity_status=ASLEEP"
holds '"parameter":"entity_status"' 'with the name of the parameter'

expect 503 'one request meets an outage' -H "$bearer" -H 'X-Mock-Scenario: outage' "$account"
expect 200 'the next one does not' -H "$bearer" "$account"

expect 200 'a delete loses its answer from now on' -X POST -H "$token" -H "$json" \
  -d '{"parameters": {"line_item_id": "itttx"}}' \
  "$control/scenarios/line-item-delete-retried/activate"
expect 000 'the answer is lost' -X DELETE -H "$bearer" "$account/line_items/itttx"
expect 404 'and the retry finds nothing' -X DELETE -H "$bearer" "$account/line_items/itttx"

expect 200 'the journal' -H "$token" "$control/requests/count?operation=line_items.delete"
holds '"count":2' 'counts both deletes'

expect 204 'the world is dropped' -X DELETE -H "$token" "$MOCK_PLATFORM_URL/_mock/worlds/smoke"
