#!/bin/sh
# webhook.sh - deliver web hooks: post the event of each job to a URL. This is a handler
# for `readpast work`.
#
#   readpast queue set hooks --max-attempts 12 --backoff 10s --backoff-max 6h
#   readpast enqueue hooks '{"url": "https://example.org/hook", "event": {"order": 17}}'
#   readpast work hooks -j 4 --timeout 20s -- ./webhook.sh
#
# Each event is posted until the receiver has confirmed it. It may be posted twice,
# because a worker can die before it has read the answer. So each request carries the
# job's id, which is the same in each attempt. The receiver should ignore an id that it
# has seen before.
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
408 | 429 | 5?? | 000) verdict=1 ;;        # try again, after longer and longer pauses
*) verdict=65 ;;                           # refused: do not try again, the job is dead
esac
echo "the receiver answered $status" >&2 # `readpast list hooks` shows this text
exit $verdict
