# Keeps a customer under your own id: replaces it, then changes one field.
set -eu

send() {
  curl --fail-with-body --silent --show-error --request "$1" \
    "$STAMM_URL/api/v1/customers/by-external-id/K-10023" \
    --header "ApiKey: $STAMM_KEY" \
    --header 'Content-Type: application/json' \
    --header 'Stamm-Origin: erp' \
    --data "$2"
}

# Creates or replaces: fields that are not sent are cleared.
send PUT '{
  "companyName": "Rathaus Café",
  "address": {"streetName": "Am Markt", "houseNumber": "1", "zipCode": "28195", "city": "Bremen"}
}' | jq -r '"version \(.version), changed \(.changed)"'

# Merges: fields that are not sent stay.
send PATCH '{"phone": "+49 421 123456"}' | jq -r '"phone \(.phone)"'
