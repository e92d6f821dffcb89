# Creates a customer and a site that belongs to it.
set -eu

post() {
  curl --fail-with-body --silent --show-error "$STAMM_URL/api/v1$1" \
    --header "ApiKey: $STAMM_KEY" \
    --header 'Content-Type: application/json' \
    --header "Idempotency-Key: $2" \
    --data "$3"
}

# Use a key per object of yours: repeating the call then creates nothing twice.
customer=$(post /customer 'curl-first-customer' '{
  "companyName": "Hotel Alsterblick GmbH",
  "address": {"streetName": "Ballindamm", "houseNumber": "17a", "zipCode": "20095", "city": "Hamburg"}
}' | jq -r .id)
echo "customer $customer"

site=$(post /customer/site 'curl-first-site' '{
  "customerId": "'"$customer"'",
  "name": "Lobby",
  "address": {"streetName": "Ballindamm", "houseNumber": "17a", "zipCode": "20095", "city": "Hamburg"},
  "needsAppointment": true,
  "hasKey": false
}' | jq -r .id)
echo "site $site"
