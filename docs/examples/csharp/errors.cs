// Sends invalid data and prints every invalid field. Repeats 429 and 500 under the same Idempotency-Key.
using System.Net;
using System.Text;
using System.Text.Json.Nodes;

using var http = new HttpClient { BaseAddress = new Uri(Environment.GetEnvironmentVariable("STAMM_URL")!) };
http.DefaultRequestHeaders.Add("ApiKey", Environment.GetEnvironmentVariable("STAMM_KEY")!);

async Task<JsonNode> Create(string path, JsonObject body, int attempts = 6)
{
    var idempotencyKey = Guid.NewGuid().ToString();
    for (var attempt = 1; ; attempt++)
    {
        var pause = TimeSpan.FromSeconds(Math.Pow(2, attempt - 1) * (0.5 + Random.Shared.NextDouble() / 2));
        try
        {
            using var request = new HttpRequestMessage(HttpMethod.Post, "/api/v1" + path)
            {
                Content = new StringContent(body.ToJsonString(), Encoding.UTF8, "application/json"),
            };
            request.Headers.Add("Idempotency-Key", idempotencyKey);
            using var response = await http.SendAsync(request);
            var answer = JsonNode.Parse(await response.Content.ReadAsStringAsync())!;
            if (response.IsSuccessStatusCode) return answer;
            var isWorthRepeating = response.StatusCode is HttpStatusCode.TooManyRequests or HttpStatusCode.InternalServerError;
            if (!isWorthRepeating || attempt == attempts) throw new StammException((int)response.StatusCode, answer);
            pause = response.Headers.RetryAfter?.Delta ?? pause;
        }
        catch (HttpRequestException) when (attempt < attempts)
        {
            // No answer: the object may be stored, and the same key finds out.
        }
        await Task.Delay(pause);
    }
}

try
{
    await Create("/customer", new JsonObject
    {
        ["companyName"] = "",
        ["address"] = new JsonObject { ["streetName"] = "Ballindamm", ["houseNumber"] = "17a", ["city"] = "Hamburg" },
    });
}
catch (StammException error)
{
    Console.WriteLine($"code {error.Problem["code"]}, request {error.Problem["requestId"]}");
    foreach (var fault in error.Problem["errors"] as JsonArray ?? new JsonArray())
    {
        Console.WriteLine($"{fault!["field"]} {fault["code"]}: {fault["message"]}");
    }
}

class StammException(int status, JsonNode problem) : Exception($"{status} {problem["code"]}: {problem["message"]}")
{
    public int Status => status;
    public JsonNode Problem => problem;
}
