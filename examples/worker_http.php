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

$verdict_on = function (array $job): array {
    ['claim' => $claim, 'payload' => $path] = $job;
    $unfinished = $path . '.sum.' . getmypid();
    try {
        file_put_contents($unfinished, hash_file('sha256', $path) . "  $path\n");
        rename($unfinished, "$path.sum");
        return ['claim' => $claim, 'verdict' => 'done'];
    } catch (ErrorException $error) {
        return ['claim' => $claim, 'verdict' => 'fail', 'error' => $error->getMessage()];
    }
};

for ($verdicts = [];;) {
    $body = json_encode(['queues' => [$queue], 'wait' => '20s', 'verdicts' => $verdicts]);
    $post = stream_context_create(['http' => ['method' => 'POST', 'content' => $body,
        'header' => 'Content-Type: application/json', 'timeout' => 60]]);
    $answer = file_get_contents("$server/v1/settle-and-claim", false, $post);
    $verdicts = array_map($verdict_on, json_decode($answer, true)['jobs']);
}
