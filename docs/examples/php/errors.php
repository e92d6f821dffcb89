<?php
// Sends invalid data and prints every invalid field. Repeats 429 and 500 under the same Idempotency-Key.
declare(strict_types=1);

final class StammError extends RuntimeException
{
    public function __construct(public readonly int $status, public readonly array $problem)
    {
        parent::__construct("$status {$problem['code']}: {$problem['message']}");
    }
}

function create(string $path, array $body, int $attempts = 6): array
{
    $retryAfter = null;
    $request = curl_init(getenv('STAMM_URL') . '/api/v1' . $path);
    curl_setopt_array($request, [
        CURLOPT_POSTFIELDS => json_encode($body, JSON_THROW_ON_ERROR),
        CURLOPT_HTTPHEADER => [
            'ApiKey: ' . getenv('STAMM_KEY'),
            'Content-Type: application/json',
            'Idempotency-Key: ' . bin2hex(random_bytes(16)),
        ],
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 60,
        CURLOPT_HEADERFUNCTION => function ($request, string $header) use (&$retryAfter): int {
            if (preg_match('/^retry-after: *(\d+)/i', $header, $match)) {
                $retryAfter = (int) $match[1];
            }
            return strlen($header);
        },
    ]);
    for ($attempt = 1; ; $attempt++) {
        $retryAfter = null;
        $answer = curl_exec($request);
        $status = curl_getinfo($request, CURLINFO_RESPONSE_CODE);
        if ($status === 201) {
            return json_decode($answer, true, flags: JSON_THROW_ON_ERROR);
        }
        // Without an answer the object may be stored, and the same key finds out.
        $isWorthRepeating = $answer === false || in_array($status, [429, 500], true);
        if (!$isWorthRepeating || $attempt === $attempts) {
            throw $answer === false
                ? new RuntimeException(curl_error($request))
                : new StammError($status, json_decode($answer, true, flags: JSON_THROW_ON_ERROR));
        }
        usleep((int) (1_000_000 * ($retryAfter ?? 2 ** ($attempt - 1) * random_int(50, 100) / 100)));
    }
}

try {
    $address = ['streetName' => 'Ballindamm', 'houseNumber' => '17a', 'city' => 'Hamburg'];
    create('/customer', ['companyName' => '', 'address' => $address]);
} catch (StammError $error) {
    echo "code {$error->problem['code']}, request {$error->problem['requestId']}\n";
    foreach ($error->problem['errors'] ?? [] as $fault) {
        echo "{$fault['field']} {$fault['code']}: {$fault['message']}\n";
    }
}
