// Receives webhooks and accepts only those that Stamm has signed.
using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json.Nodes;

const int toleranceSeconds = 300;
var secret = Convert.FromBase64String(Environment.GetEnvironmentVariable("WEBHOOK_SECRET")!.Replace("whsec_", ""));

bool IsGenuine(string? id, string? timestamp, string? signatures, byte[] body)
{
    if (!long.TryParse(timestamp, out var sentAt)) return false;
    if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - sentAt) > toleranceSeconds) return false;
    byte[] signed = [.. Encoding.UTF8.GetBytes($"{id}.{timestamp}."), .. body];
    var expected = Encoding.UTF8.GetBytes("v1," + Convert.ToBase64String(HMACSHA256.HashData(secret, signed)));
    // The header may hold several signatures, separated by spaces.
    return (signatures ?? "").Split(' ')
        .Any(one => CryptographicOperations.FixedTimeEquals(expected, Encoding.UTF8.GetBytes(one)));
}

using var listener = new HttpListener();
listener.Prefixes.Add($"http://127.0.0.1:{Environment.GetEnvironmentVariable("PORT")}/");
listener.Start();
while (true)
{
    var context = await listener.GetContextAsync();
    var headers = context.Request.Headers;
    // Verify the bytes as they arrived: JSON that was parsed and written again has another signature.
    using var buffer = new MemoryStream();
    await context.Request.InputStream.CopyToAsync(buffer);
    var body = buffer.ToArray();
    var isGenuine = IsGenuine(headers["webhook-id"], headers["webhook-timestamp"], headers["webhook-signature"], body);
    if (isGenuine) Console.WriteLine($"{JsonNode.Parse(body)!["type"]} {headers["webhook-id"]}");
    context.Response.StatusCode = isGenuine ? 204 : 400;
    context.Response.Close();
}
