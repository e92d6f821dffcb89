# Imports many objects and reads the result of each line.
import json
import os
import urllib.request

address = {"streetName": "Am Wall", "houseNumber": "5", "zipCode": "28195", "city": "Bremen"}
lines = [
    {"type": "customer", "data": {"externalId": "ERP-1", "companyName": "Weser Büro AG", "address": address}},
    {
        "type": "contact-person",
        "data": {"externalId": "ERP-1-P", "customerExternalId": "ERP-1", "lastName": "Petersen"},
    },
    {"type": "customer", "data": {"externalId": "ERP-2", "companyName": "", "address": address}},
]

# urllib reads no results while it sends: send at most 2,000 lines per request.
request = urllib.request.Request(
    os.environ["STAMM_URL"] + "/api/v1/import",
    method="POST",
    data="\n".join(map(json.dumps, lines)).encode(),
    headers={
        "ApiKey": os.environ["STAMM_KEY"],
        "Content-Type": "application/x-ndjson",
        # Send the same lines under the same key after a broken connection: no line is stored twice.
        "Idempotency-Key": "import-2026-11-17",
    },
)
with urllib.request.urlopen(request, timeout=60) as response:
    for line in response:
        result = json.loads(line)
        if "summary" in result:
            print(f"created {result['summary']['created']}, failed {result['summary']['failed']}")
        elif result["status"] >= 400:
            print(f"line {result['line']} {result['code']}")
