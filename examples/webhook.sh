#!/bin/sh
# webhook.sh - deliver web hooks: a handler for `readpast work`.
#
#   readpast queue set hooks --max-attempts 12 --backoff 10s --backoff-max 6h
#   readpast enqueue hooks '{"url": "https://example.org/hook", "event": {"order": 17}}'
#   readpast work hooks -j 4 --timeout 20s -- ./webhook.sh
#
# Each event is posted until the receiver has said that it has it. It may be posted
# twice, for a worker can die when the answer is under way. So each request bears the
# job's id, the same in each attempt: the receiver drops an id that it has seen.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

job=$(cat)
status=$(printf '%s' "$job" | jq -c .event | curl --silent --max-time 10 \
	--output /dev/null --write-out '%{http_code}' \
	--header 'Content-Type: application/json' \
	--header "Idempotency-Key: $READPAST_JOB_ID" --data-binary @- \
	"$(printf '%s' "$job" | jq -r .url)")
case $status in
2??) exit 0 ;;                             # delivered
408 | 429 | 5?? | 000) verdict=1 ;;        # tried again, later and later
*) verdict=65 ;;                           # refused: dead, for people to look at
esac
echo "the receiver answered $status" >&2 # kept with the job: readpast list hooks
exit $verdict
