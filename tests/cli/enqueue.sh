#!/usr/bin/env bash
# Test the command `enqueue`. Its jobs are lines, parts that NUL separates, or the whole
# input. Also test input that pauses, and calls that are refused.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

payloads() {
	readpast list "$1" --json --limit 1k | sed 's/.*"payload":"\([^"]*\)".*/\1/' | paste -sd'|'
}

check 'each argument becomes a job, and its id is printed' \
	equal "$(readpast enqueue args a 'b c' | paste -sd,)" 1,2
check 'the payloads are the arguments' equal "$(payloads args)" 'a|b c'

printf 'one\n\ntwo\r\nlast' | readpast enqueue lines --quiet
check 'each line becomes a job: a CR stays, and empty lines and a last line without newline count' \
	equal "$(payloads lines)" 'one||two\r|last'
printf 'a\nb\0c\0' | readpast enqueue nul -0 --quiet
check 'with -0 each NUL ends a job' equal "$(payloads nul)" 'a\nb|c'
printf 'a\nb\n' | readpast enqueue one --one --quiet
check 'with --one all of standard input is one payload' \
	equal "$(payloads one)" 'a\nb\n'
check 'without input there is no job' equal "$(readpast enqueue none </dev/null)" ''
each_once() { # DB QUEUE N: the queue has the numbers from 1 to N, each of them once
	equal "$(sqlite3 "$1" "
		select count(*), count(distinct payload), sum(cast(cast(payload as text) as integer))
		  from readpast_job join readpast_queue q on q.id = queue_id where q.name = '$2'")" \
		"$3|$3|$(($3 * ($3 + 1) / 2))"
}
seq 25000 | readpast enqueue many >ids
check 'many lines print as many ids' equal "$(wc -l <ids)" 25000
check 'each of many lines becomes one job' each_once readpast.db many 25000

mkfifo slow
# shellcheck disable=SC2094
"$READPAST" enqueue slow <slow >slow.ids &
exec 3>slow
echo first >&3
check 'a pause of the input commits' eventually test -s slow.ids
check 'the write lock is free during the pause' status 0 readpast --db 'sqlite:readpast.db?busy=100ms' enqueue other x
exec 3>&-
wait $!

readpast queue set small --max-payload 3 >/dev/null
too_large() {
	printf 'a\nb\nlong\nc\n' | readpast enqueue small
}
check 'a payload that is too large ends enqueue with 2' equal "$(too_large >out 2>err; echo $?)" 2
check 'the message says how many jobs were enqueued' \
	equal "$(cat err)" 'readpast: line 3: payload too large: queue small takes at most 3 bytes (readpast queue set small --max-payload SIZE changes that); 2 jobs enqueued: go on with --skip 2'
check 'the input after the large payload is not enqueued' equal "$(payloads small)" 'a|b'
printf 'a\nb\nlong\nc\n' | readpast enqueue small --skip 3 --quiet
check '--skip passes the bad line and the lines before it' equal "$(payloads small)" 'a|b|c'
readpast purge small --state ready --yes >/dev/null
check 'a payload larger than any limit is refused before it is read' \
	equal "$(yes | tr -d '\n' | readpast enqueue small 2>&1; echo "${PIPESTATUS[2]}")" \
	'readpast: line 1: payload too large: queue small takes at most 3 bytes (readpast queue set small --max-payload SIZE changes that); 0 jobs enqueued
2'
check 'if the ids cannot be written, enqueue exits with 1 after the commit' \
	equal "$(readpast enqueue full x 2>/dev/null >/dev/full; echo $?; readpast list full --json | wc -l)" '1
1'

# ---- enqueue fails midway, and a second call enqueues the rest ----

skip_of() { # FILE: print the value of --skip that the message recommends
	sed -nE 's/.* ([0-9]+) jobs enqueued: go on with --skip ([0-9]+)$/\2/p' "$1"
}
seq 25000 | readpast enqueue cut >/dev/full 2>err
check 'if the ids cannot be written, enqueue stops after a commit and says how to go on' \
	equal "$(cat err)" 'readpast: cannot write to standard output: No space left on device; 10000 jobs enqueued: go on with --skip 10000'
seq 25000 | readpast enqueue cut --skip "$(skip_of err)" >ids
check 'the second call prints the ids of the rest' equal "$(wc -l <ids)" 15000
check 'each line has become one job' each_once readpast.db cut 25000

# Put the database on a small disk. If no disk can be mounted, ulimit limits the size
# of a SQLite file instead.
mkdir disk
limit=
if ((EUID != 0)) || ! mount -t tmpfs -o size=3m none disk 2>/dev/null; then
	limit=2000
fi
fill_disk() {
	[[ -z $limit ]] || ulimit -f "$limit"
	seq 100000 | readpast --db sqlite:disk/q.db enqueue q --quiet 2>err
}
readpast --db sqlite:disk/q.db init >/dev/null 2>&1
(fill_disk)
check 'on a full disk enqueue exits with 1' equal $? 1
check 'on a full disk enqueue prints one line' equal "$(wc -l <err)" 1
skip=$(skip_of err)
check 'the line says how many jobs were enqueued' equal "${skip:-none}" \
	"$(sqlite3 disk/q.db 'select count(*) from readpast_job')"
check 'some jobs were enqueued before the disk was full' test "${skip:-0}" -gt 0
[[ -n $limit ]] || mount -o remount,size=100m disk
seq 100000 | readpast --db sqlite:disk/q.db enqueue q --quiet --skip "${skip:-0}"
check 'with free space again the second call enqueues each of the other jobs once' each_once disk/q.db q 100000
[[ -n $limit ]] || umount disk

mkfifo typed
interrupt() { # SIGNAL
	# shellcheck disable=SC2094
	"$READPAST" enqueue typed <typed >typed.ids 2>err &
	local pid=$!
	exec 3>typed
	printf '1\n2\n' >&3
	eventually test -s typed.ids || return
	printf 'not a line yet' >&3
	kill "-$1" "$pid"
	wait "$pid"
	local got=$?
	exec 3>&-
	equal "$got" "$((128 + $(kill -l "$1")))" || return
	equal "$(cat err)" 'readpast: interrupted; 2 jobs enqueued: go on with --skip 2'
}
check 'a signal ends enqueue, which says how to go on' interrupt TERM
seq 5 | readpast enqueue typed --skip 2 --quiet
check 'jobs that were not committed are not enqueued' each_once readpast.db typed 5

# Start `enqueue` while another client holds the write lock. The function returns when
# `enqueue` has begun to read its input, which it cannot commit. unlock() releases the
# lock.
mkfifo lock
lock_out() {
	sqlite3 readpast.db <lock &
	locker=$!
	exec 4>lock
	printf 'begin immediate;\n.shell touch held\n' >&4
	eventually test -e held || return
	seq 25000 >lines
	"$READPAST" --db 'sqlite:readpast.db?busy=60s' enqueue held --quiet <lines 2>err 4>&- &
	pid=$!
	eventually has_read "$pid"
}
unlock() {
	exec 4>&-
	wait "$locker"
	rm held
}
has_read() { # PID: the process has read from the file that is its standard input
	grep -qx 'pos:[[:space:]]*[1-9][0-9]*' "/proc/$1/fdinfo/0"
}
has_taken() { # PID: no signal is pending
	grep -qx 'ShdPnd:[[:space:]]0*' "/proc/$1/status"
}
takes_two_as_one() {
	lock_out || return
	kill -TERM "$pid"
	eventually has_taken "$pid"
	kill -TERM "$pid"
	unlock
	wait "$pid"
	equal "$?" 143 || return
	equal "$(cut -d';' -f1 err)" 'readpast: interrupted' && test -n "$(skip_of err)"
}
kill_again() {
	kill -TERM "$pid"
	! kill -0 "$pid"
}
ends_without_the_lock() {
	lock_out || return
	eventually kill_again
	unlock
	wait "$pid"
	equal "$? $(cat err)" '143 '
}
readpast queue set held >/dev/null
check 'two signals that come together, as from timeout(1), count as one' takes_two_as_one
check 'a second signal ends enqueue while it waits for a lock' ends_without_the_lock

check '--skip counts arguments, too' \
	equal "$(readpast enqueue pass --skip 2 a b c d --quiet; payloads pass)" 'c|d'
printf 'a\0b\0c' | readpast enqueue pass0 -0 --skip 2 --quiet
check '--skip counts items that end with NUL, too' equal "$(payloads pass0)" c
check '--skip of all lines leaves nothing to do' equal "$(seq 3 | readpast enqueue pass --skip 3)" ''
three() {
	seq 3 | readpast enqueue pass --skip 4
}
check '--skip of more lines than there are exits with 2' equal "$(three 2>&1; echo $?)" \
	'readpast: --skip 4: the input has only 3 jobs
2'
check '--skip and --one together are refused' refuses 2 'either --skip or --one' readpast enqueue q --one --skip 1

id=$(readpast enqueue u --unique k a)
check 'if a live job has the unique key, its id is printed' equal "$(readpast enqueue u --unique k b)" "$id"
check '--replace replaces the job that has the unique key' equal "$(readpast enqueue u --unique k --replace c; payloads u)" "$id
c"
readpast claim u >/dev/null
check '--replace of a running job exits with 4' \
	refuses 4 'running' readpast enqueue u --unique k --replace d

readpast enqueue opt x --priority 7 --kind k --header a=1 --header 'b=x=y' \
	--max-attempts 9 --delay 1h --quiet
job=$(readpast list opt --json)
check 'the job has its priority' equal "$(field priority "$job")" 7
check 'the job has its kind' equal "$(field kind "$job")" k
check 'the job has its headers' grep -qF '"headers":{"a":"1","b":"x=y"}' <<<"$job"
check 'the job has its number of attempts' equal "$(field max_attempts "$job")" 9
check 'the job is scheduled' equal "$(field state "$job")" scheduled
readpast enqueue at x --at 2033-05-18T05:33:20.5+02:00 --quiet
check '--at takes a time with a zone' equal "$(field run_at "$(readpast list at --json)")" 2033-05-18T03:33:20.500Z
readpast enqueue at2 x --at @2000000000 --quiet
check '--at takes a time in seconds since 1970' equal "$(field run_at "$(readpast list at2 --json)")" 2033-05-18T03:33:20.000Z
readpast enqueue past x --at @1 --quiet
check 'a job whose time is in the past is ready' equal "$(field state "$(readpast list past --json)")" ready
printf 'a\xff' | readpast enqueue bin --one --quiet
check 'a payload that is not UTF-8 is printed as base64' \
	equal "$(field payload_base64 "$(readpast list bin --json)")" Yf8=

for bad in '--delay 10' '--delay -1s' '--delay 3651d' '--delay 99999999999999999999s' \
	'--at yesterday' '--at 2026-01-01' '--at 2026-02-30T00:00:00Z' '--priority 256' \
	'--priority -1' '--priority x' '--max-attempts 0' '--max-attempts 1.5' \
	'--header x' '--header =x' '--header x=1 --header x=2' '--kind' '--nonsense' '--replace' '--delay 1s --at @1'; do
	# shellcheck disable=SC2086
	check "enqueue refuses $bad" refuses 2 '.' readpast enqueue q x $bad
done
check 'the message about a duration that is too long has the limit' refuses 2 'at most 3650d' readpast enqueue q x --delay 3651d
check 'a queue whose name begins with a dash is refused, because commands would read an option' \
	refuses 2 'begin with a dash' readpast enqueue -- -dash x
check 'enqueue without a queue is refused' refuses 2 'queue' readpast enqueue
check 'a queue with a control character is refused' refuses 2 'control' readpast enqueue $'a\tb' x
check 'a queue of 129 bytes is refused' refuses 2 '128' readpast enqueue "$(printf 'x%.0s' {1..129})" x

check '--json prints the outcome for each job' equal "$(
	readpast enqueue json a --unique k --json
	readpast enqueue json b --unique k --json
	readpast enqueue json c --unique k --replace --json
	readpast claim json >/dev/null
	readpast enqueue json d --unique k --replace --json 2>/dev/null
	echo $?
)" "$(
	id=$(field id "$(readpast list json --json)")
	for word in added existing replaced existing; do
		echo "{\"id\":$id,\"queue\":\"json\",\"result\":\"$word\"}"
	done
	echo 4
)"
check 'a job that would expire during its delay is refused' refuses 2 'the job would expire before it is due; 0 jobs' \
	readpast enqueue late x --expire 1h --delay 1h
check 'a job that would expire before it is due is refused' refuses 2 'the job would expire before it is due; 0 jobs' \
	readpast enqueue late x --expire 1h --at 9999-01-01T00:00:00Z
check 'a job that expires after it is due is enqueued' status 0 readpast enqueue late x --expire 2h --delay 1h
finish
