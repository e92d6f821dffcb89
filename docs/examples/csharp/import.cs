// Imports many objects and reads the result of each line.
using System.Text;
using System.Text.Json.Nodes;

using var http = new HttpClient { BaseAddress = new Uri(Environment.GetEnvironmentVariable("STAMM_URL")!) };
http.DefaultRequestHeaders.Add("ApiKey", Environment.GetEnvironmentVariable("STAMM_KEY")!);

JsonObject Address() => new()
{
    ["streetName"] = "Am Wall", ["houseNumber"] = "5", ["zipCode"] = "28195", ["city"] = "Bremen",
};

// "revive": false leaves deleted what the office has deleted: such a line fails with 409 and the id to restore.
JsonObject[] lines =
[
    new()
    {
        ["type"] = "customer", ["revive"] = false,
        ["data"] = new JsonObject { ["externalId"] = "CS-1", ["companyName"] = "Weser Büro AG", ["address"] = Address() },
    },
    new()
    {
        ["type"] = "contact-person", ["revive"] = false,
        ["data"] = new JsonObject { ["externalId"] = "CS-1-P", ["customerExternalId"] = "CS-1", ["lastName"] = "Petersen" },
    },
    new()
    {
        ["type"] = "customer", ["revive"] = false,
        ["data"] = new JsonObject { ["externalId"] = "CS-2", ["companyName"] = "", ["address"] = Address() },
    },
];

// A body that is sent as a whole: at most 2,000 lines per request.
using var request = new HttpRequestMessage(HttpMethod.Post, "/api/v1/import")
{
    Content = new StringContent(string.Join("\n", lines.Select(line => line.ToJsonString())), Encoding.UTF8, "application/x-ndjson"),
};
// Send the same lines under the same key after an import that broke off: no line is stored twice.
request.Headers.Add("Idempotency-Key", "csharp-import-2026-11-17");
using var response = await http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
response.EnsureSuccessStatusCode();
using var reader = new StreamReader(await response.Content.ReadAsStreamAsync());
JsonNode? summary = null;
while (await reader.ReadLineAsync() is { } line)
{
    var result = JsonNode.Parse(line)!;
    if (result["summary"] is { } last)
    {
        summary = last;
    }
    else if ((int)result["status"]! >= 400)
    {
        Console.WriteLine($"line {result["line"]} {result["code"]}");
    }
}

// A restart of the service ends an import early, with a code. A broken connection ends it without a summary.
if (summary is null || summary["code"] is not null)
{
    throw new IOException("The import is not complete. Send the same lines again under the same key.");
}
Console.WriteLine($"created {summary["created"]}, failed {summary["failed"]}");
