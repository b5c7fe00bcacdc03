#!/usr/bin/env bash
# The command enqueue: input as lines, separated by NUL, or as a whole; pauses of the
# input; and refusals.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

payloads() {
	readpast list "$1" --json --limit 1k | sed 's/.*"payload":"\([^"]*\)".*/\1/' | paste -sd'|'
}

check 'one job per argument, ids on standard output' \
	equal "$(readpast enqueue args a 'b c' | paste -sd,)" 1,2
check 'the payloads are the arguments' equal "$(payloads args)" 'a|b c'

printf 'one\n\ntwo\r\nlast' | readpast enqueue lines --quiet
check 'one job per line; CR stays; empty lines and a last line without newline count' \
	equal "$(payloads lines)" 'one||two\r|last'
printf 'a\nb\0c\0' | readpast enqueue nul -0 --quiet
check 'one job per NUL with -0' equal "$(payloads nul)" 'a\nb|c'
printf 'a\nb\n' | readpast enqueue one --one --quiet
check 'all of standard input is one payload with --one' \
	equal "$(payloads one)" 'a\nb\n'
check 'no input, no job' equal "$(readpast enqueue none </dev/null)" ''
each_once() { # DB QUEUE N: the queue has the numbers from 1 to N, each of them once
	equal "$(sqlite3 "$1" "
		select count(*), count(distinct payload), sum(cast(cast(payload as text) as integer))
		  from readpast_job join readpast_queue q on q.id = queue_id where q.name = '$2'")" \
		"$3|$3|$(($3 * ($3 + 1) / 2))"
}
seq 25000 | readpast enqueue many >ids
check 'many lines, an id for each' equal "$(wc -l <ids)" 25000
check 'and each of them once' each_once readpast.db many 25000

mkfifo slow
# shellcheck disable=SC2094
"$READPAST" enqueue slow <slow >slow.ids &
exec 3>slow
echo first >&3
check 'a pause in the input commits' eventually test -s slow.ids
check 'and the lock is free during the pause' status 0 readpast --db 'sqlite:readpast.db?busy=100ms' enqueue other x
exec 3>&-
wait $!

readpast queue set small --max-payload 3 >/dev/null
too_large() {
	printf 'a\nb\nlong\nc\n' | readpast enqueue small
}
check 'a payload that is too large ends it, exit 2' equal "$(too_large >out 2>err; echo $?)" 2
check 'and says what was enqueued' \
	equal "$(cat err)" 'readpast: line 3: payload too large: queue small takes at most 3 bytes (readpast queue set small --max-payload SIZE changes that); 2 jobs enqueued: go on with --skip 2'
check 'nothing of the rest is enqueued' equal "$(payloads small)" 'a|b'
printf 'a\nb\nlong\nc\n' | readpast enqueue small --skip 3 --quiet
check 'a bad line can be skipped, like those already enqueued' equal "$(payloads small)" 'a|b|c'
readpast purge small --state ready --yes >/dev/null
check 'a payload beyond all bounds is refused before it is read' \
	equal "$(yes | tr -d '\n' | readpast enqueue small 2>&1; echo "${PIPESTATUS[2]}")" \
	'readpast: line 1: payload too large: queue small takes at most 3 bytes (readpast queue set small --max-payload SIZE changes that); 0 jobs enqueued
2'
check 'the ids cannot be written: exit 1, after the commit' \
	equal "$(readpast enqueue full x 2>/dev/null >/dev/full; echo $?; readpast list full --json | wc -l)" '1
1'

# ---- enqueue fails midway, and is continued ----

skip_of() { # FILE: print the --skip with which the message says to go on
	sed -nE 's/.* ([0-9]+) jobs enqueued: go on with --skip ([0-9]+)$/\2/p' "$1"
}
seq 25000 | readpast enqueue cut >/dev/full 2>err
check 'the ids cannot be written: it stops after a commit, and says how to go on' \
	equal "$(cat err)" 'readpast: cannot write to standard output: No space left on device; 10000 jobs enqueued: go on with --skip 10000'
seq 25000 | readpast enqueue cut --skip "$(skip_of err)" >ids
check 'it goes on: the ids of the rest' equal "$(wc -l <ids)" 15000
check 'each job is in, once' each_once readpast.db cut 25000

# Limit the size of the file by a small disk. If that is not possible, ulimit does it
# for SQLite.
mkdir disk
limit=
if ((EUID != 0)) || ! mount -t tmpfs -o size=3m none disk 2>/dev/null; then
	limit=2000
fi
fill_disk() {
	trap '' XFSZ
	[[ -z $limit ]] || ulimit -f "$limit"
	seq 100000 | readpast --db sqlite:disk/q.db enqueue q --quiet 2>err
}
readpast --db sqlite:disk/q.db init >/dev/null 2>&1
(fill_disk)
check 'a full disk: exit 1' equal $? 1
check 'and one line' equal "$(wc -l <err)" 1
skip=$(skip_of err)
check 'that says how many jobs are in' equal "${skip:-none}" \
	"$(sqlite3 disk/q.db 'select count(*) from readpast_job')"
check 'some are' test "${skip:-0}" -gt 0
[[ -n $limit ]] || mount -o remount,size=100m disk
seq 100000 | readpast --db sqlite:disk/q.db enqueue q --quiet --skip "${skip:-0}"
check 'with room again it goes on: each job is in, once' each_once disk/q.db q 100000
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
check 'told to end, it says how to go on and ends by the signal' interrupt TERM
seq 5 | readpast enqueue typed --skip 2 --quiet
check 'and what it has not committed is not in' each_once readpast.db typed 5

check '--skip counts arguments, too' \
	equal "$(readpast enqueue pass --skip 2 a b c d --quiet; payloads pass)" 'c|d'
printf 'a\0b\0c' | readpast enqueue pass0 -0 --skip 2 --quiet
check 'and NUL-separated items' equal "$(payloads pass0)" c
check 'all of them: nothing to do' equal "$(seq 3 | readpast enqueue pass --skip 3)" ''
three() {
	seq 3 | readpast enqueue pass --skip 4
}
check 'more than there are: exit 2' equal "$(three 2>&1; echo $?)" \
	'readpast: --skip 4: the input has only 3 jobs
2'
check 'refused: --skip and --one' refuses 2 'either --skip or --one' readpast enqueue q --one --skip 1

id=$(readpast enqueue u --unique k a)
check 'a live job has the unique key: its id is printed' equal "$(readpast enqueue u --unique k b)" "$id"
check 'replaced by --replace' equal "$(readpast enqueue u --unique k --replace c; payloads u)" "$id
c"
readpast claim u >/dev/null
check 'a running job is not replaced: exit 4' \
	refuses 4 'running' readpast enqueue u --unique k --replace d

readpast enqueue opt x --priority 7 --kind k --header a=1 --header 'b=x=y' \
	--max-attempts 9 --delay 1h --quiet
job=$(readpast list opt --json)
check 'priority' equal "$(field priority "$job")" 7
check 'kind' equal "$(field kind "$job")" k
check 'headers' grep -qF '"headers":{"a":"1","b":"x=y"}' <<<"$job"
check 'attempts' equal "$(field max_attempts "$job")" 9
check 'state' equal "$(field state "$job")" scheduled
readpast enqueue at x --at 2033-05-18T05:33:20.5+02:00 --quiet
check 'a time with a zone' equal "$(field run_at "$(readpast list at --json)")" 2033-05-18T03:33:20.500Z
readpast enqueue at2 x --at @2000000000 --quiet
check 'a time in seconds since 1970' equal "$(field run_at "$(readpast list at2 --json)")" 2033-05-18T03:33:20.000Z
readpast enqueue past x --at @1 --quiet
check 'a time that is past: ready' equal "$(field state "$(readpast list past --json)")" ready
printf 'a\xff' | readpast enqueue bin --one --quiet
check 'bytes that are not UTF-8 come as base64' \
	equal "$(field payload_base64 "$(readpast list bin --json)")" Yf8=

for bad in '--delay 10' '--delay -1s' '--delay 3651d' '--delay 99999999999999999999s' \
	'--at yesterday' '--at 2026-01-01' '--at 2026-02-30T00:00:00Z' '--priority 256' \
	'--priority -1' '--priority x' '--max-attempts 0' '--max-attempts 1.5' \
	'--header x' '--kind' '--nonsense' '--replace' '--delay 1s --at @1'; do
	# shellcheck disable=SC2086
	check "refused: $bad" refuses 2 '.' readpast enqueue q x $bad
done
check 'a duration that is too long is told the limit' refuses 2 'at most 3650d' readpast enqueue q x --delay 3651d
check 'refused: a queue with a dash in front, which would be an option elsewhere' \
	refuses 2 'begin with a dash' readpast enqueue -- -dash x
check 'refused: no queue' refuses 2 'queue' readpast enqueue
check 'refused: a queue with a control character' refuses 2 'control' readpast enqueue $'a\tb' x
check 'refused: a queue of 129 bytes' refuses 2 '128' readpast enqueue "$(printf 'x%.0s' {1..129})" x

check 'JSON gives the outcome for each job' equal "$(
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
check 'a job that expires during its delay' refuses 2 'the job would expire before it is due; 0 jobs' \
	readpast enqueue late x --expire 1h --delay 1h
check '... or before its time' refuses 2 'the job would expire before it is due; 0 jobs' \
	readpast enqueue late x --expire 1h --at 9999-01-01T00:00:00Z
check 'one that expires later is taken' status 0 readpast enqueue late x --expire 2h --delay 1h
finish
