<?php
// Reads all customers, 100 per page.
declare(strict_types=1);

function listAll(string $collection, array $query = []): Generator
{
    $query['limit'] = 100;
    do {
        $request = curl_init(getenv('STAMM_URL') . "/api/v1/$collection?" . http_build_query($query));
        curl_setopt_array($request, [
            CURLOPT_HTTPHEADER => ['ApiKey: ' . getenv('STAMM_KEY')],
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT => 60,
        ]);
        $answer = curl_exec($request);
        if (curl_getinfo($request, CURLINFO_RESPONSE_CODE) !== 200) {
            throw new RuntimeException($answer ?: curl_error($request));
        }
        $page = json_decode($answer, true, flags: JSON_THROW_ON_ERROR);
        foreach ($page['data'] as $item) {
            yield $item;
        }
        $query['cursor'] = $page['nextCursor'];
    } while ($page['nextCursor'] !== null);
}

foreach (listAll('customers') as $customer) {
    echo $customer['companyName'], "\n";
}
