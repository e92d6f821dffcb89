// Creates a customer and a site that belongs to it.
using System.Text;
using System.Text.Json.Nodes;

using var http = new HttpClient { BaseAddress = new Uri(Environment.GetEnvironmentVariable("STAMM_URL")!) };
http.DefaultRequestHeaders.Add("ApiKey", Environment.GetEnvironmentVariable("STAMM_KEY")!);

JsonObject Address() => new()
{
    ["streetName"] = "Ballindamm", ["houseNumber"] = "17a", ["zipCode"] = "20095", ["city"] = "Hamburg",
};

async Task<string> Post(string path, string idempotencyKey, JsonObject body)
{
    using var request = new HttpRequestMessage(HttpMethod.Post, "/api/v1" + path)
    {
        Content = new StringContent(body.ToJsonString(), Encoding.UTF8, "application/json"),
    };
    request.Headers.Add("Idempotency-Key", idempotencyKey);
    using var response = await http.SendAsync(request);
    var answer = await response.Content.ReadAsStringAsync();
    if (!response.IsSuccessStatusCode) throw new HttpRequestException(answer);
    return (string)JsonNode.Parse(answer)!["id"]!;
}

// Use a key per object of yours: repeating the call then creates nothing twice.
var customerId = await Post("/customer", "csharp-first-customer", new JsonObject
{
    ["companyName"] = "Hotel Alsterblick GmbH", ["address"] = Address(),
});
Console.WriteLine($"customer {customerId}");

var siteId = await Post("/customer/site", "csharp-first-site", new JsonObject
{
    ["customerId"] = customerId, ["name"] = "Lobby", ["address"] = Address(),
    ["needsAppointment"] = true, ["hasKey"] = false,
});
Console.WriteLine($"site {siteId}");
