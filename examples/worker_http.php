<?php
// worker_http.php - a worker in PHP that uses HTTP and no extension. It writes the checksum
// of each file beside the file.
//
//   readpast serve &
//   find /usr/include -name '*.h' | readpast enqueue sums
//   php worker_http.php http://127.0.0.1:8080 sums      # run several, if you like
//
// The verdict on a job and the claim of the next one are one request. A worker may die
// before it has sent the verdict. Then the job is done twice, which does no harm. If the
// server cannot be reached, the worker ends. Let systemd start it again.
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

[, $server, $queue] = $argv;
set_error_handler(fn($level, $text) => throw new ErrorException($text));

// A payload that is not UTF-8 comes as `payload_base64`. No payload may end the worker,
// because the jobs behind it would wait. PHP would take a URL for a file, and fetch it.
$verdict_on = function (array $job): array {
    try {
        $path = $job['payload'] ?? throw new Exception('the payload is not text');
        if (str_contains($path, '://')) throw new Exception('the payload is a URL');
        file_put_contents("$path.sum." . getmypid(), hash_file('sha256', $path) . "  $path\n");
        rename("$path.sum." . getmypid(), "$path.sum");
        return ['claim' => $job['claim'], 'verdict' => 'done'];
    } catch (Throwable $e) {
        return ['claim' => $job['claim'], 'verdict' => 'fail', 'error' => $e->getMessage()];
    }
};

for ($verdicts = [];;) {
    $body = json_encode(['queues' => [$queue], 'wait' => '20s', 'verdicts' => $verdicts]);
    $post = stream_context_create(['http' => ['method' => 'POST', 'content' => $body,
        'header' => 'Content-Type: application/json', 'timeout' => 60]]);
    $answer = file_get_contents("$server/v1/settle-and-claim", false, $post);
    $verdicts = array_map($verdict_on, json_decode($answer, true)['jobs']);
}
