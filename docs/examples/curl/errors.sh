# Sends invalid data and prints every invalid field. curl repeats 429 and 500 and obeys Retry-After.
set -eu

# A file, because curl would print the answer of each attempt.
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
curl --silent --show-error --retry 5 --output "$answer" "$STAMM_URL/api/v1/customer" \
  --header "ApiKey: $STAMM_KEY" \
  --header 'Content-Type: application/json' \
  --header 'Accept-Language: en' \
  --header "Idempotency-Key: $(date +%s)-$$" \
  --data '{
    "companyName": "",
    "address": {"streetName": "Ballindamm", "houseNumber": "17a", "city": "Hamburg"}
  }'
jq -r '
  "code \(.code), request \(.requestId)",
  (.errors[]? | "\(.field) \(.code): \(.message)")' "$answer"
