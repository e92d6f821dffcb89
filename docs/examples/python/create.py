# Creates a customer and a site that belongs to it.
import json
import os
import urllib.request


def post(path, idempotency_key, body):
    request = urllib.request.Request(
        os.environ["STAMM_URL"] + "/api/v1" + path,
        method="POST",
        data=json.dumps(body).encode(),
        headers={
            "ApiKey": os.environ["STAMM_KEY"],
            "Content-Type": "application/json",
            "Idempotency-Key": idempotency_key,
        },
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


address = {"streetName": "Ballindamm", "houseNumber": "17a", "zipCode": "20095", "city": "Hamburg"}

# Use a key per object of yours: repeating the call then creates nothing twice.
customer = post("/customer", "python-first-customer", {"companyName": "Hotel Alsterblick GmbH", "address": address})
print("customer", customer["id"])

site = post(
    "/customer/site",
    "python-first-site",
    {"customerId": customer["id"], "name": "Lobby", "address": address, "needsAppointment": True, "hasKey": False},
)
print("site", site["id"])
