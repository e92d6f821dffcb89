<?php
// Creates a customer and a site that belongs to it.
declare(strict_types=1);

function post(string $path, string $idempotencyKey, array $body): array
{
    $request = curl_init(getenv('STAMM_URL') . '/api/v1' . $path);
    curl_setopt_array($request, [
        CURLOPT_POSTFIELDS => json_encode($body, JSON_THROW_ON_ERROR),
        CURLOPT_HTTPHEADER => [
            'ApiKey: ' . getenv('STAMM_KEY'),
            'Content-Type: application/json',
            'Idempotency-Key: ' . $idempotencyKey,
        ],
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 60,
    ]);
    $answer = curl_exec($request);
    if (curl_getinfo($request, CURLINFO_RESPONSE_CODE) !== 201) {
        throw new RuntimeException($answer ?: curl_error($request));
    }
    return json_decode($answer, true, flags: JSON_THROW_ON_ERROR);
}

$address = ['streetName' => 'Ballindamm', 'houseNumber' => '17a', 'zipCode' => '20095', 'city' => 'Hamburg'];

// Use a key per object of yours: repeating the call then creates nothing twice.
$customer = post('/customer', 'php-first-customer', ['companyName' => 'Hotel Alsterblick GmbH', 'address' => $address]);
echo "customer {$customer['id']}\n";

$site = post('/customer/site', 'php-first-site', [
    'customerId' => $customer['id'],
    'name' => 'Lobby',
    'address' => $address,
    'needsAppointment' => true,
    'hasKey' => false,
]);
echo "site {$site['id']}\n";
