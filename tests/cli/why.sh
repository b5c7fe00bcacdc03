#!/usr/bin/env bash
# why.sh READPAST sqlite:|postgres: - the command why, and each reason that it gives.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
on_database "$2"

says() { # ID PATTERN...: why prints one line that matches all patterns
	local id=$1 said pattern
	shift
	said=$(readpast why "$id") || return 1
	(($(wc -l <<<"$said") == 1)) || return 1
	for pattern; do
		grep -qE -- "$pattern" <<<"$said" || {
			echo "no '$pattern' in: $said"
			return 1
		}
	done
}
reason() {
	field reason "$(readpast why "$1" --json)"
}
is() { # ID REASON
	equal "$(reason "$1")" "$2"
}

check 'no job: usage, exit 2' refuses 2 'which jobs' readpast why
check 'no number: exit 2' refuses 2 "expected a job's id" readpast why x
readpast queue set q --keep-done 1h >/dev/null
check 'no such job: exit 3, and the reason' refuses 3 '99999: it was never given' readpast why 99999

late=$(readpast enqueue q late --delay 1h)
check 'not due' says "$late" 'not due until .*\(in 59m\)'
check 'not due, for programs' is "$late" 'not due'
first=$(readpast enqueue q a)
second=$(readpast enqueue q b)
check 'no worker serves the queue' says "$first" 'no other job ahead' 'No worker serves queue q'
check 'no worker, for programs' is "$first" 'no worker'
check 'behind what is earlier in line' says "$second" 'behind 1 job of'
readpast enqueue q urgent urgent --priority 3 --quiet
check 'and behind higher priority' says "$second" 'behind 3 jobs'
seq 1100 | readpast enqueue q --priority 9 --quiet
check 'counted up to a bound' says "$second" 'behind at least 1000 jobs'
readpast pause q
check 'paused' says "$second" 'Queue q has been paused since .* ago.*readpast resume q'
check 'paused, for programs' is "$second" paused
readpast pause q --reason 'the mail server moves'
check 'paused with a reason' says "$second" 'Queue q has been paused since .* ago., "the mail server moves"; readpast resume q'
check 'the reason, for programs' equal "$(field pause_reason "$(readpast why "$second" --json)")" 'the mail server moves'
check 'a scheduled job of a paused queue' says "$late" 'not due' 'has been paused'
readpast resume q
check 'several at once, the worst counts' refuses 3 'id 99999' readpast why "$first" 99999 "$second"

r=$(readpast enqueue r a)
claim=$(claim_of "$(readpast claim r --lease 1h)")
check 'claimed by hand' says "$r" 'a client that is no worker has held it since' 'attempt 1 of 3' 'until .*in 59m\)\.'
readpast extend "$claim" --lease 2h
readpast extend "$claim" --lease 2h
check 'renewed twice' says "$r" 'renewed 2 times'
readpast fail "$claim" --error 'it broke' --retry-in 1h
check 'backoff, with the error' says "$r" 'backoff until .*in 59m' 'attempt 1 of 3 failed: it broke'
check 'backoff, for programs' is "$r" backoff
readpast cancel "$r"
check 'cancelled' says "$r" 'was cancelled at' "readpast retry $r"
late=$(readpast enqueue late x --expire 1ms)
soon=$(readpast enqueue late x --expire 1h)
sleep 0.01
check 'until when it has to start' says "$soon" 'If it has not started by .* \(in 59m' 'it is cancelled'
check 'expired, before a sweep' says "$late" 'It expired at' 'no claim takes it'
readpast sweep >/dev/null
check 'expired' says "$late" 'was cancelled at' 'it expired, because it was not claimed by'
check 'show says so too' grep -q '^last error    expired$' <(readpast show "$late")
readpast retry "$r"
claim=$(claim_of "$(readpast claim r)")
check 'the next claim was never renewed' equal "$(field renewed "$(readpast why "$r" --json)")" 0
readpast release "$claim" --delay 1h
check 'a released job waits, but not for a backoff' is "$r" 'not due'
d=$(readpast enqueue r dead)
readpast fail "$(claim_of "$(readpast claim r)")" --for-good --error 'no use'
check 'dead, with the error' says "$d" 'has been dead since .*failed for good, attempt 1 of 3: no use' "readpast retry $d"
readpast queue set r --keep-done 1h >/dev/null
d=$(readpast enqueue r finished)
readpast complete "$(claim_of "$(readpast claim r)")"
check 'done' says "$d" 'was done at'

# Start a worker whose handler blocks, and enqueue a second job.
w=$(readpast enqueue w held)
mkfifo hold
start_worker w --lease 900ms
check 'running' eventually is "$w" running
check 'which worker runs it, and where' says "$w" "worker .*:$worker on host $(uname -n) \(process $worker\) has held it"
renewed() { (($(field renewed "$(readpast why "$w" --json)") >= 2)); }
check 'a worker renews' eventually renewed
n=$(readpast enqueue w waits)
check 'next in line' says "$n" 'no other job ahead' 'as soon as a worker is free; 1 worker can run it'
check 'next, for programs' is "$n" next
kill_worker
check 'its worker died: the lease runs out' eventually is "$w" 'lease over'
check 'the sweep makes it ready again' says "$w" 'ran out at .* ago\)' 'sweep\) the job becomes ready again'
readpast sweep >/dev/null
came_back="came back because worker .*:$worker on host $(uname -n) was not heard of since 20.*Z; attempt counted"
check 'why it came back' says "$w" "It $came_back \(1 of 3\)"
shows() { readpast show "$1" | grep -qE "$2"; }
check 'show says so, too' shows "$w" "^note  *$came_back$"
readpast claim w --lease 1ms >/dev/null
sweeps() { [[ $(readpast sweep) == *' 1 recovered,'* ]]; }
check "a client's lease runs out, too" eventually sweeps
check 'a suspect is handed out alone' says "$w" 'a client that is no worker was not heard of since' '\(2 of 3\)' 'handed out alone'

# A worker with a long lease stops sending heartbeats. Instead of waiting, the test sets
# its last heartbeat back by a minute.
s=$(readpast enqueue s held --max-attempts 1)
start_worker s --lease 1h
check 'another worker' eventually is "$s" running
kill_worker
age_workers 60
check 'silent' says "$s" 'not been heard of for 6[0-9]s' 'If that worker is gone' 'the job becomes dead'
check 'silent, for programs' is "$s" silent
check 'a silent worker does not count as serving its queue' says "$(readpast enqueue s more)" 'No worker serves queue s'
age_workers 3600
readpast sweep >/dev/null
check 'a worker that is forgotten' says "$s" 'a worker that has not been seen for an hour has held it'
finish
