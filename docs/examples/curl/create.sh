# Creates a customer and a site that belongs to it.
set -eu

# Prints the id of the new object, or the error.
post() {
  answer=$(curl --fail-with-body --silent --show-error "$STAMM_URL/api/v1$1" \
    --header "ApiKey: $STAMM_KEY" \
    --header 'Content-Type: application/json' \
    --header "Idempotency-Key: $2" \
    --data "$3") || { echo "$answer" >&2; exit 1; }
  printf '%s' "$answer" | jq -r .id
}

# Use a key per object of yours: repeating the call then creates nothing twice.
customer=$(post /customer 'curl-first-customer' '{
  "companyName": "Hotel Alsterblick GmbH",
  "address": {"streetName": "Ballindamm", "houseNumber": "17a", "zipCode": "20095", "city": "Hamburg"}
}')
echo "customer $customer"

site=$(post /customer/site 'curl-first-site' '{
  "customerId": "'"$customer"'",
  "name": "Lobby",
  "address": {"streetName": "Ballindamm", "houseNumber": "17a", "zipCode": "20095", "city": "Hamburg"},
  "needsAppointment": true,
  "hasKey": false
}')
echo "site $site"
