// Keeps a customer under your own id: replaces it, then changes one field.
using System.Text;
using System.Text.Json.Nodes;

using var http = new HttpClient { BaseAddress = new Uri(Environment.GetEnvironmentVariable("STAMM_URL")!) };
http.DefaultRequestHeaders.Add("ApiKey", Environment.GetEnvironmentVariable("STAMM_KEY")!);
http.DefaultRequestHeaders.Add("Stamm-Origin", "erp");

async Task<JsonNode> Send(HttpMethod method, string externalId, JsonObject body)
{
    // What the office has deleted stays deleted: 409 with the id to restore.
    var path = $"/api/v1/customers/by-external-id/{Uri.EscapeDataString(externalId)}?revive=false";
    using var request = new HttpRequestMessage(method, path)
    {
        Content = new StringContent(body.ToJsonString(), Encoding.UTF8, "application/json"),
    };
    using var response = await http.SendAsync(request);
    var answer = await response.Content.ReadAsStringAsync();
    if (!response.IsSuccessStatusCode) throw new HttpRequestException(answer);
    return JsonNode.Parse(answer)!;
}

// Creates or replaces: fields that are not sent are cleared.
var answer = await Send(HttpMethod.Put, "K-10023", new JsonObject
{
    ["companyName"] = "Rathaus Café",
    ["address"] = new JsonObject
    {
        ["streetName"] = "Am Markt", ["houseNumber"] = "1", ["zipCode"] = "28195", ["city"] = "Bremen",
    },
});
Console.WriteLine($"version {answer["version"]}, changed {answer["changed"]!.ToJsonString()}");

// Merges: fields that are not sent stay.
var customer = await Send(HttpMethod.Patch, "K-10023", new JsonObject { ["phone"] = "+49 421 123456" });
Console.WriteLine($"phone {customer["phone"]}");
