#!/bin/sh
# worker_http.sh - a worker in the shell that needs only curl and jq: it does not run the
# command `readpast`. It writes the checksum of each file beside the file.
#
#   readpast serve &
#   find /usr/include -name '*.h' | readpast enqueue sums
#   ./worker_http.sh http://127.0.0.1:8080 sums        # run several, if you like
#
# A worker may die after it has written the sum and before it has sent the verdict. Then
# the job is done twice, which does no harm.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# `timeout` ends the work before the lease ends, so the lease (60 s, unless
# the queue has another one) need not be renewed.
# A payload that is not UTF-8 comes as `payload_base64`, and not as `payload`. No payload
# may end the worker, because the jobs behind it would wait.
write_sum() {
	[ "$1" ] || { echo 'the payload is not text of 1 to 4000 characters in one line' && return 1; }
	timeout "${LIMIT:-50}" sha256sum "$1" >"$1.sum.$$" && mv "$1.sum.$$" "$1.sum"
}

verdicts='[]'
while :; do
	# One request sends the verdict on the last job and claims the next one. The
	# request waits for a job. If the server cannot be reached, this script ends. Let
	# systemd start it again.
	answer=$(jq -n --arg queue "$2" --argjson verdicts "$verdicts" \
		'{queues: [$queue], wait: "20s", verdicts: $verdicts}' |
		curl -sSf --max-time 60 --data-binary @- "$1/v1/settle-and-claim") || exit 1
	claim=$(printf '%s' "$answer" | jq -r '.jobs[0].claim // empty')
	# A path has at most 4,096 bytes. An argument of a program has at most 128 KiB. The
	# shell would drop a NUL character, and line breaks at the end.
	file=$(printf '%s' "$answer" | jq -r '.jobs[0].payload // empty | select(test("\\A[^\u0000\n]{1,4000}\\z"))')
	case $file in -*) file=./$file ;; esac # a name, and not an option
	verdicts='[]'
	[ "$claim" ] || continue # there was no job for 20 s
	verdict='done'
	error=$(write_sum "$file" 2>&1) || verdict=fail
	rm -f "$file.sum.$$" # the unfinished sum, if it failed
	verdicts=$(jq -n --arg claim "$claim" --arg verdict $verdict --arg error "$(printf %.1000s "$error")" \
		'[{claim: $claim, verdict: $verdict} + if $error == "" then {} else {error: $error} end]')
done
