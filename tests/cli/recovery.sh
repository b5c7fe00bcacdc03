#!/usr/bin/env bash
# Measure how long the recovery from a crash takes. Compares two times: until N jobs of
# a dead worker are done, and until N new jobs are done. Prints both times.
#
#   recovery.sh READPAST sqlite:|postgres: [long]
#
# The short form measures 100 jobs of 50 ms with two workers, and 30,000 leases that end
# at the same time. The long form measures 100 and 1,000 jobs of 0 and 50 ms, with one
# and two workers. It also measures how long new jobs, and jobs of another queue, wait
# while a thousand jobs are recovered.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
on_database "$2"
LEASE_MS=3000

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

# Run workers until the queue is empty. Then set $took to the milliseconds that have
# passed since the time SINCE.
drain() { # SINCE WORKERS COMMAND...
	local since=$1 workers=$2 pids=()
	shift 2
	for ((w = 0; w < workers; w++)); do
		"$READPAST" work q -j 8 --drain -- "$@" >/dev/null 2>>err.work &
		pids+=($!)
	done
	wait "${pids[@]}"
	took=$(($(now_ms) - since))
}
in_time() {
	((lost <= fresh + fresh / 2 + 2000)) && return
	echo "lost $lost ms, fresh $fresh ms"
	return 1
}

# Measure how long workers take for JOBS new jobs. Then measure how long they take for
# the same number of jobs whose leases have run out. Each job runs COMMAND.
compare() { # JOBS WORKERS COMMAND...
	local jobs=$1 workers=$2 said="$1 jobs, $2 workers, ${*:3}"
	shift 2
	seq "$jobs" | readpast enqueue q --quiet
	drain "$(now_ms)" "$workers" "$@"
	fresh=$took
	seq "$jobs" | readpast enqueue q --quiet
	readpast claim q -n "$jobs" --lease ${LEASE_MS}ms >/dev/null
	drain $(($(now_ms) + LEASE_MS)) "$workers" "$@"
	lost=$took
	echo "# $said: fresh $fresh ms; lost $lost ms after their leases' end"
	check "$said: lost jobs take at most 1.5 times as long as new ones, and 2 s" in_time
	check "$said: all jobs are done" equal "$(readpast list q --limit 9 --json)" ''
}

# Enqueue jobs while a thousand other jobs are recovered. A new job of the same queue
# may wait until the recovered jobs are done, but no longer. Jobs of another queue,
# which has its own worker, must not wait.
beside() {
	local pids=() start
	seq 1000 | readpast enqueue q --quiet
	readpast claim q -n 1000 --lease ${LEASE_MS}ms >/dev/null
	start=$(($(now_ms) + LEASE_MS))
	# shellcheck disable=SC2016
	"$READPAST" work q -j 8 -- sh -c 'sleep 0.05; read x; case $x in f*) date +%s%N >>started;; esac' >/dev/null 2>&1 &
	pids+=($!)
	"$READPAST" work other -- sh -c 'date +%s%N >>others' >/dev/null 2>&1 &
	pids+=($!)
	while (($(now_ms) < start + 500)); do sleep 0.05; done
	readpast enqueue q fresh --quiet
	for ((i = 0; i < 5; i++)); do
		date +%s%N >>put
		readpast enqueue other x --quiet
		eventually test -s others
		sleep 0.1
	done
	fresh_started() { [[ -s started ]]; }
	for ((i = 0; i < 6; i++)); do eventually fresh_started && break; done
	waited=$((($(head -n 1 started) / 1000000) - start))
	slowest=$(paste put others | awk '{ d = ($2 - $1) / 1e6; if (d > m) m = d } END { printf "%d", m }')
	kill "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	echo "# a fresh job beside 1,000 lost ones: started $waited ms after the leases' end; a thousand fresh ones take $fresh ms; another queue's waited $slowest ms at most"
	check 'a new job waits at most as long as behind as many new jobs, and 1 s' test "$waited" -le $((fresh + 1000))
	check "the jobs of another queue start at once" test "$slowest" -le 1000
}

# Let many leases end at the same time in a queue without workers. Measure the time from
# the end of the leases until all jobs are ready. The limit is two seconds, and one
# millisecond more for each $per_ms jobs. Until all jobs are ready, also enqueue jobs to
# another queue, and measure the slowest of these calls.
at_once() { # LEASES
	local leases=$1 start taken worst=0 most
	seq "$leases" | readpast enqueue many --quiet
	"$READPAST" work elsewhere -- true >/dev/null 2>&1 &
	worker=$!
	readpast claim many -n "$leases" --lease 4s >/dev/null
	start=$(($(now_ms) + 4000))
	while (($(now_ms) < start)); do sleep 0.02; done
	while [[ $(field running "$(readpast stats many --json)") != 0 ]]; do
		taken=$(now_ms)
		readpast enqueue probe x --quiet
		taken=$(($(now_ms) - taken))
		((taken > worst)) && worst=$taken
	done
	most=$((leases / per_ms + 2000))
	# With sanitizers everything takes about three times as long.
	[[ -z $(sanitizer_of "$READPAST") ]] || most=$((most * 3))
	taken=$(($(now_ms) - start))
	kill "$worker"
	wait "$worker" 2>/dev/null
	echo "# $leases leases ended at once: ready again within $taken ms; an enqueue, a process each, took $worst ms at most"
	check "of leases that end at once, ${per_ms},000 jobs become ready in a second" test "$taken" -le "$most"
}

# The smallest number of jobs that must become ready in a millisecond. The short form of
# this test requires much less than the long form, because the short form also runs with
# sanitizers and beside other tests.
per_ms=1
[[ ${3-} != long ]] || per_ms=15
at_once 30000
if [[ ${3-} == long ]]; then
	for jobs in 100 1000; do
		for workers in 1 2; do
			compare "$jobs" "$workers" true
			compare "$jobs" "$workers" sleep 0.05
		done
	done
	compare 1000 1 sleep 0.05
	beside
else
	compare 100 2 sleep 0.05
fi
finish
