// Imports many objects and reads the result of each line.
using System.Text;
using System.Text.Json.Nodes;

using var http = new HttpClient { BaseAddress = new Uri(Environment.GetEnvironmentVariable("STAMM_URL")!) };
http.DefaultRequestHeaders.Add("ApiKey", Environment.GetEnvironmentVariable("STAMM_KEY")!);

JsonObject Address() => new()
{
    ["streetName"] = "Am Wall", ["houseNumber"] = "5", ["zipCode"] = "28195", ["city"] = "Bremen",
};

JsonObject[] lines =
[
    new()
    {
        ["type"] = "customer",
        ["data"] = new JsonObject { ["externalId"] = "ERP-1", ["companyName"] = "Weser Büro AG", ["address"] = Address() },
    },
    new()
    {
        ["type"] = "contact-person",
        ["data"] = new JsonObject { ["externalId"] = "ERP-1-P", ["customerExternalId"] = "ERP-1", ["lastName"] = "Petersen" },
    },
    new()
    {
        ["type"] = "customer",
        ["data"] = new JsonObject { ["externalId"] = "ERP-2", ["companyName"] = "", ["address"] = Address() },
    },
];

// A body that is sent as a whole: at most 2,000 lines per request.
using var request = new HttpRequestMessage(HttpMethod.Post, "/api/v1/import")
{
    Content = new StringContent(string.Join("\n", lines.Select(line => line.ToJsonString())), Encoding.UTF8, "application/x-ndjson"),
};
// Send the same lines under the same key after a broken connection: no line is stored twice.
request.Headers.Add("Idempotency-Key", "import-2026-11-17");
using var response = await http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
response.EnsureSuccessStatusCode();
using var reader = new StreamReader(await response.Content.ReadAsStreamAsync());
while (await reader.ReadLineAsync() is { } line)
{
    var result = JsonNode.Parse(line)!;
    if (result["summary"] is { } summary)
    {
        Console.WriteLine($"created {summary["created"]}, failed {summary["failed"]}");
    }
    else if ((int)result["status"]! >= 400)
    {
        Console.WriteLine($"line {result["line"]} {result["code"]}");
    }
}
