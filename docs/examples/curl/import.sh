# Imports a file of lines. Results arrive while curl still sends.
set -eu

lines=$(mktemp)
results=$(mktemp)
trap 'rm -f "$lines" "$results"' EXIT
# "revive": false leaves deleted what the office has deleted: such a line fails with 409 and the id to restore.
cat >"$lines" <<'LINES'
{"type":"customer","revive":false,"data":{"externalId":"SH-1","companyName":"Weser Büro AG","address":{"streetName":"Am Wall","houseNumber":"5","zipCode":"28195","city":"Bremen"}}}
{"type":"contact-person","revive":false,"data":{"externalId":"SH-1-P","customerExternalId":"SH-1","lastName":"Petersen"}}
{"type":"customer","revive":false,"data":{"externalId":"SH-2","companyName":""}}
LINES

# Send the same file under the same key after an import that broke off: no line is stored twice.
curl --fail-with-body --silent --show-error --no-buffer --request POST --upload-file "$lines" \
  "$STAMM_URL/api/v1/import" \
  --header "ApiKey: $STAMM_KEY" \
  --header 'Content-Type: application/x-ndjson' \
  --header 'Idempotency-Key: curl-import-2026-11-17' |
  tee "$results" | jq -r 'select(.status >= 400) | "line \(.line) \(.code)"'

# A restart of the service ends an import early, with a code. A broken connection ends it without a summary.
tail -n 1 "$results" | jq -rs '.[0].summary | if . and (.code | not)
  then "created \(.created), failed \(.failed)"
  else error("The import is not complete. Send the same file again under the same key.") end'
