-- Sends the requests of a file in turn (see requests.ts) and prints what came back as one line of JSON.
local requests = {}
local last = 0

function init(arguments)
  for line in io.lines(arguments[1]) do
    local method, path, key, body = line:match("^(.-)\t(.-)\t(.-)\t(.*)$")
    local headers = { ["ApiKey"] = key }
    if body == "" then body = nil else headers["Content-Type"] = "application/json" end
    requests[#requests + 1] = wrk.format(method, path, headers, body)
  end
  -- Rounds do not begin with the same requests.
  last = os.time() * 7919 % #requests
end

function request()
  last = last % #requests + 1
  return requests[last]
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"answers":%d,"microseconds":%d,"refused":%d,"broken":%d,"p50":%.3f,"p99":%.3f,"max":%.3f}',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end
