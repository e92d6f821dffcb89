# Keeps a customer under your own id: replaces it, then changes one field.
set -eu

# Prints the answer. What the office has deleted stays deleted: 409 with the id to restore.
send() {
  answer=$(curl --fail-with-body --silent --show-error --request "$1" \
    "$STAMM_URL/api/v1/customers/by-external-id/K-10023?revive=false" \
    --header "ApiKey: $STAMM_KEY" \
    --header 'Content-Type: application/json' \
    --header 'Stamm-Origin: erp' \
    --data "$2") || { echo "$answer" >&2; exit 1; }
  printf '%s' "$answer"
}

# Creates or replaces: fields that are not sent are cleared.
replaced=$(send PUT '{
  "companyName": "Rathaus Café",
  "address": {"streetName": "Am Markt", "houseNumber": "1", "zipCode": "28195", "city": "Bremen"}
}')
printf '%s' "$replaced" | jq -r '"version \(.version), changed \(.changed)"'

# Merges: fields that are not sent stay.
merged=$(send PATCH '{"phone": "+49 421 123456"}')
printf '%s' "$merged" | jq -r '"phone \(.phone)"'
