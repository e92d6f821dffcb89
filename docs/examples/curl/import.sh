# Imports a file of lines. Results arrive while curl still sends.
set -eu

lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
cat >"$lines" <<'LINES'
{"type":"customer","data":{"externalId":"ERP-1","companyName":"Weser Büro AG","address":{"streetName":"Am Wall","houseNumber":"5","zipCode":"28195","city":"Bremen"}}}
{"type":"contact-person","data":{"externalId":"ERP-1-P","customerExternalId":"ERP-1","lastName":"Petersen"}}
{"type":"customer","data":{"externalId":"ERP-2","companyName":""}}
LINES

# Send the same file under the same key after a broken connection: no line is stored twice.
curl --fail-with-body --silent --show-error --no-buffer --request POST --upload-file "$lines" \
  "$STAMM_URL/api/v1/import" \
  --header "ApiKey: $STAMM_KEY" \
  --header 'Content-Type: application/x-ndjson' \
  --header 'Idempotency-Key: import-2026-11-17' |
  jq -r 'if .summary then "created \(.summary.created), failed \(.summary.failed)"
         elif .status >= 400 then "line \(.line) \(.code)" else empty end'
