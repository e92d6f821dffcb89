# Verifies one received webhook: the body comes on standard input, the three headers as variables.
set -eu

age=$(($(date +%s) - WEBHOOK_TIMESTAMP))
if [ "${age#-}" -gt 300 ]; then
  echo 'too old'
  exit 1
fi

secret=$(printf '%s' "${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
expected=$({ printf '%s.%s.' "$WEBHOOK_ID" "$WEBHOOK_TIMESTAMP"; cat; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$secret" -binary | base64)

# The header may hold several signatures, separated by spaces.
case " $WEBHOOK_SIGNATURE " in
*" v1,$expected "*) echo 'valid' ;;
*)
  echo 'invalid'
  exit 1
  ;;
esac
