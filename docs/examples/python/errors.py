# Sends invalid data and prints every invalid field. Repeats 429 and 500 under the same Idempotency-Key.
import json
import os
import random
import time
import urllib.error
import urllib.request
import uuid


class StammError(Exception):
    def __init__(self, status, problem):
        super().__init__(f"{status} {problem['code']}: {problem['message']}")
        self.status = status
        self.code = problem["code"]
        self.request_id = problem["requestId"]
        self.errors = problem.get("errors", [])


def create(path, body, attempts=6):
    request = urllib.request.Request(
        os.environ["STAMM_URL"] + "/api/v1" + path,
        method="POST",
        data=json.dumps(body).encode(),
        headers={
            "ApiKey": os.environ["STAMM_KEY"],
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),
        },
    )
    for attempt in range(attempts):
        is_last = attempt == attempts - 1
        pause = 2**attempt * random.uniform(0.5, 1)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 500) or is_last:
                raise StammError(error.code, json.load(error)) from None
            pause = float(error.headers.get("Retry-After", pause))
        except OSError:
            # No answer: the object may be stored, and the same key finds out.
            if is_last:
                raise
        time.sleep(pause)


try:
    address = {"streetName": "Ballindamm", "houseNumber": "17a", "city": "Hamburg"}
    create("/customer", {"companyName": "", "address": address})
except StammError as error:
    print(f"code {error.code}, request {error.request_id}")
    for fault in error.errors:
        print(f"{fault['field']} {fault['code']}: {fault['message']}")
