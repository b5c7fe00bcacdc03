#!/usr/bin/env bash
# Test that jobs which kill their worker do not stop the other jobs of the queue. Also
# test a worker that is stopped for longer than its leases.
#
#   poison.sh READPAST sqlite:|postgres:
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
on_database "$2"

# Run workers one after another until the queue is empty. Some jobs kill their worker.
# Prints how many workers were killed.
# shellcheck disable=SC2016
work_through() { # QUEUE
	local killed=0 status
	for ((i = 0; i < 20; i++)); do
		readpast work "$1" -j 4 --drain -- sh -c 'read x; [ "$x" = poison ] && kill -9 $PPID; sleep 0.01' >/dev/null 2>&1
		status=$?
		((status == 137)) && killed=$((killed + 1))
		((status == 0)) && break
	done
	echo "$killed"
}
of_state() { # QUEUE STATE
	readpast list "$1" --state "$2" --limit 1000 --json
}

for attempts in 3 2; do
	q=with$attempts
	readpast queue set "$q" --lease 1s --max-attempts "$attempts" --backoff 10ms --keep-done 1h >/dev/null
	for ((i = 1; i <= 303; i++)); do
		((i == 10 || i == 50 || i == 290)) && echo poison || echo "fine $i"
	done | readpast enqueue "$q" --quiet
	killed=$(work_through "$q" 2>/dev/null)
	check "with $attempts attempts the jobs that kill end as dead" equal "$(of_state "$q" dead | grep -c poison)" 3
	check "with $attempts attempts no other job is dead" equal "$(of_state "$q" dead | grep -c fine)" 0
	check "with $attempts attempts all other jobs are done" equal "$(of_state "$q" "done" | wc -l)" 300
	check "with $attempts attempts each job that kills has killed at most as many workers" test "$killed" -le $((3 * attempts))
done

# Stop a worker that has claimed more jobs than it has started. When its leases are over,
# a second worker does these jobs. When the first worker continues, it must not start
# any of them. It may start only one job: the one that a thread was just about to start.
seq 400 | readpast enqueue s --quiet
# shellcheck disable=SC2016
handler='read x; echo "$x" >>"$0"; [ "$x" -lt 50 ] || until [ -e go ]; do sleep 0.01; done'
"$READPAST" work s --lease 1s --drain -- sh -c "$handler" stopped >/dev/null 2>&1 &
stopped=$!
started() { (($(wc -l <stopped) >= 50)); }
check 'a worker runs jobs' eventually started
# On SQLite the worker may be stopped while it holds the write lock. Then nobody else can
# write, so let it go on, and stop it again.
until kill -STOP "$stopped" && readpast queue set probe >/dev/null 2>&1; do
	kill -CONT "$stopped"
	sleep 0.01
done
touch go
readpast work s --drain -- sh -c "$handler" other >/dev/null 2>&1
before=$(wc -l <stopped)
kill -CONT "$stopped"
wait "$stopped"
check 'every job was started' equal "$(sort -un stopped other | wc -l)" 400
check 'the stopped worker started none of the jobs that it had lost' test "$(wc -l <stopped)" -le $((before + 1))
finish
