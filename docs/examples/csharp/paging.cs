// Reads all customers, 100 per page.
using System.Text.Json.Nodes;

using var http = new HttpClient { BaseAddress = new Uri(Environment.GetEnvironmentVariable("STAMM_URL")!) };
http.DefaultRequestHeaders.Add("ApiKey", Environment.GetEnvironmentVariable("STAMM_KEY")!);

async IAsyncEnumerable<JsonNode> ListAll(string collection)
{
    string? cursor = null;
    do
    {
        var path = $"/api/v1/{collection}?limit=100";
        if (cursor != null) path += "&cursor=" + Uri.EscapeDataString(cursor);
        using var response = await http.GetAsync(path);
        var answer = await response.Content.ReadAsStringAsync();
        if (!response.IsSuccessStatusCode) throw new HttpRequestException(answer);
        var page = JsonNode.Parse(answer)!;
        foreach (var item in page["data"]!.AsArray()) yield return item!;
        cursor = (string?)page["nextCursor"];
    } while (cursor != null);
}

await foreach (var customer in ListAll("customers"))
{
    Console.WriteLine(customer["companyName"]);
}
