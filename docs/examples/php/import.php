<?php
// Imports many objects. curl reads results while it sends.
declare(strict_types=1);

$address = ['streetName' => 'Am Wall', 'houseNumber' => '5', 'zipCode' => '28195', 'city' => 'Bremen'];
// "revive": false leaves deleted what the office has deleted: such a line fails with 409 and the id to restore.
$lines = [
    ['type' => 'customer', 'revive' => false, 'data' => ['externalId' => 'PHP-1', 'companyName' => 'Weser Büro AG', 'address' => $address]],
    ['type' => 'contact-person', 'revive' => false, 'data' => ['externalId' => 'PHP-1-P', 'customerExternalId' => 'PHP-1', 'lastName' => 'Petersen']],
    ['type' => 'customer', 'revive' => false, 'data' => ['externalId' => 'PHP-2', 'companyName' => '', 'address' => $address]],
];

$summary = null;
$handle = function (array $result) use (&$summary): void {
    if (isset($result['summary'])) {
        $summary = $result['summary'];
    } elseif ($result['status'] >= 400) {
        echo "line {$result['line']} {$result['code']}\n";
    }
};

$unread = '';
$request = curl_init(getenv('STAMM_URL') . '/api/v1/import');
curl_setopt_array($request, [
    CURLOPT_POSTFIELDS => implode("\n", array_map(json_encode(...), $lines)),
    CURLOPT_HTTPHEADER => [
        'ApiKey: ' . getenv('STAMM_KEY'),
        'Content-Type: application/x-ndjson',
        // Send the same lines under the same key after an import that broke off: no line is stored twice.
        'Idempotency-Key: php-import-2026-11-17',
    ],
    CURLOPT_FAILONERROR => true,
    CURLOPT_WRITEFUNCTION => function ($request, string $piece) use (&$unread, $handle): int {
        $complete = explode("\n", $unread . $piece);
        $unread = array_pop($complete);
        foreach ($complete as $line) {
            $handle(json_decode($line, true, flags: JSON_THROW_ON_ERROR));
        }
        return strlen($piece);
    },
]);
if (!curl_exec($request)) {
    throw new RuntimeException(curl_error($request));
}
// A restart of the service ends an import early, with a code. A broken connection ends it without a summary.
if ($summary === null || isset($summary['code'])) {
    throw new RuntimeException('The import is not complete. Send the same lines again under the same key.');
}
echo "created {$summary['created']}, failed {$summary['failed']}\n";
