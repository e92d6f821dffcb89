# Reads all customers, 100 per page.
set -eu

cursor=
while :; do
  page=$(curl --fail-with-body --silent --show-error --get "$STAMM_URL/api/v1/customers" \
    --header "ApiKey: $STAMM_KEY" \
    --data limit=100 \
    ${cursor:+--data-urlencode "cursor=$cursor"})
  printf '%s' "$page" | jq -r '.data[].companyName'
  cursor=$(printf '%s' "$page" | jq -r '.nextCursor // empty')
  [ -n "$cursor" ] || break
done
