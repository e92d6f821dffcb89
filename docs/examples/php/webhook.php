<?php
// Receives webhooks and accepts only those that Stamm has signed.
declare(strict_types=1);

const TOLERANCE_SECONDS = 300;

function isGenuine(string $body): bool
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    $secret = base64_decode(preg_replace('/^whsec_/', '', getenv('WEBHOOK_SECRET')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $secret, true));
    // The header may hold several signatures, separated by spaces.
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

// Verify the bytes as they arrived: JSON that was parsed and written again has another signature.
$body = file_get_contents('php://input');
if (isGenuine($body)) {
    $event = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
    file_put_contents('php://stdout', "{$event['type']} {$_SERVER['HTTP_WEBHOOK_ID']}\n");
    http_response_code(204);
} else {
    http_response_code(400);
}
