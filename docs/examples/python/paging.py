# Reads all customers, 100 per page.
import json
import os
import urllib.parse
import urllib.request


def list_all(collection, **query):
    query["limit"] = 100
    while True:
        request = urllib.request.Request(
            f"{os.environ['STAMM_URL']}/api/v1/{collection}?{urllib.parse.urlencode(query)}",
            headers={"ApiKey": os.environ["STAMM_KEY"]},
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            page = json.load(response)
        yield from page["data"]
        if page["nextCursor"] is None:
            return
        query["cursor"] = page["nextCursor"]


for customer in list_all("customers"):
    print(customer["companyName"])
