<?php
// Keeps a customer under your own id: replaces it, then changes one field.
declare(strict_types=1);

function send(string $method, string $externalId, array $body): array
{
    // What the office has deleted stays deleted: 409 with the id to restore.
    $path = '/api/v1/customers/by-external-id/' . rawurlencode($externalId) . '?revive=false';
    $request = curl_init(getenv('STAMM_URL') . $path);
    curl_setopt_array($request, [
        CURLOPT_CUSTOMREQUEST => $method,
        CURLOPT_POSTFIELDS => json_encode($body, JSON_THROW_ON_ERROR),
        CURLOPT_HTTPHEADER => [
            'ApiKey: ' . getenv('STAMM_KEY'),
            'Content-Type: application/json',
            'Stamm-Origin: erp',
        ],
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 60,
    ]);
    $answer = curl_exec($request);
    if (!in_array(curl_getinfo($request, CURLINFO_RESPONSE_CODE), [200, 201], true)) {
        throw new RuntimeException($answer ?: curl_error($request));
    }
    return json_decode($answer, true, flags: JSON_THROW_ON_ERROR);
}

// Creates or replaces: fields that are not sent are cleared.
$answer = send('PUT', 'K-10023', [
    'companyName' => 'Rathaus Café',
    'address' => ['streetName' => 'Am Markt', 'houseNumber' => '1', 'zipCode' => '28195', 'city' => 'Bremen'],
]);
echo "version {$answer['version']}, changed ", json_encode($answer['changed']), "\n";

// Merges: fields that are not sent stay.
$customer = send('PATCH', 'K-10023', ['phone' => '+49 421 123456']);
echo "phone {$customer['phone']}\n";
