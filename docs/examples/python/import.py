# Imports many objects and reads the result of each line.
import json
import os
import sys
import urllib.request

address = {"streetName": "Am Wall", "houseNumber": "5", "zipCode": "28195", "city": "Bremen"}
# "revive": false leaves deleted what the office has deleted: such a line fails with 409 and the id to restore.
lines = [
    {
        "type": "customer",
        "revive": False,
        "data": {"externalId": "PY-1", "companyName": "Weser Büro AG", "address": address},
    },
    {
        "type": "contact-person",
        "revive": False,
        "data": {"externalId": "PY-1-P", "customerExternalId": "PY-1", "lastName": "Petersen"},
    },
    {"type": "customer", "revive": False, "data": {"externalId": "PY-2", "companyName": "", "address": address}},
]

# urllib reads no results while it sends: send at most 2,000 lines per request.
request = urllib.request.Request(
    os.environ["STAMM_URL"] + "/api/v1/import",
    method="POST",
    data="\n".join(map(json.dumps, lines)).encode(),
    headers={
        "ApiKey": os.environ["STAMM_KEY"],
        "Content-Type": "application/x-ndjson",
        # Send the same lines under the same key after an import that broke off: no line is stored twice.
        "Idempotency-Key": "python-import-2026-11-17",
    },
)
summary = None
with urllib.request.urlopen(request, timeout=60) as response:
    for line in response:
        result = json.loads(line)
        if "summary" in result:
            summary = result["summary"]
        elif result["status"] >= 400:
            print(f"line {result['line']} {result['code']}")

# A restart of the service ends an import early, with a code. A broken connection ends it without a summary.
if summary is None or "code" in summary:
    sys.exit("The import is not complete. Send the same lines again under the same key.")
print(f"created {summary['created']}, failed {summary['failed']}")
