# Keeps a customer under your own id: replaces it, then changes one field.
import json
import os
import urllib.parse
import urllib.request


def send(method, external_id, body):
    # What the office has deleted stays deleted: 409 with the id to restore.
    path = f"/api/v1/customers/by-external-id/{urllib.parse.quote(external_id, safe='')}?revive=false"
    request = urllib.request.Request(
        os.environ["STAMM_URL"] + path,
        method=method,
        data=json.dumps(body).encode(),
        headers={
            "ApiKey": os.environ["STAMM_KEY"],
            "Content-Type": "application/json",
            "Stamm-Origin": "erp",
        },
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


# Creates or replaces: fields that are not sent are cleared.
address = {"streetName": "Am Markt", "houseNumber": "1", "zipCode": "28195", "city": "Bremen"}
answer = send("PUT", "K-10023", {"companyName": "Rathaus Café", "address": address})
print(f"version {answer['version']}, changed {str(answer['changed']).lower()}")

# Merges: fields that are not sent stay.
customer = send("PATCH", "K-10023", {"phone": "+49 421 123456"})
print("phone", customer["phone"])
