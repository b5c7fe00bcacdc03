#!/usr/bin/env bash
# Test the command `work`, which runs any program as a handler.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

handler() {
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

last_line() {
	readpast work "$@" 2>err | tail -n 1
}

state() {
	field state "$(readpast show "$1" --json)"
}

error_of() {
	field last_error "$(readpast show "$1" --json)"
}

readpast enqueue in 'hello world' --quiet
# shellcheck disable=SC2016
readpast work in --drain -- sh -c 'cat; echo; echo "$0"' 'got {}, {}' >out 2>err
check 'the payload is standard input and {} in any argument' \
	equal "$(head -n 2 out)" 'hello world
got hello world, hello world'
check 'the last line has the totals' equal "$(tail -n 1 out)" '1 done, 0 failed, 0 dead, 0 released'

readpast enqueue env x --kind k --header a=b --priority 3 --max-attempts 7 --quiet
# shellcheck disable=SC2016
readpast work env --drain -- sh -c 'cd /; echo "$READPAST_QUEUE $READPAST_JOB_ID $READPAST_ATTEMPT $READPAST_MAX_ATTEMPTS $READPAST_PRIORITY $READPAST_KIND $READPAST_HEADERS"; echo "$READPAST_DB"; echo "$READPAST_CLAIM"' >out
check 'the other fields are in the environment' equal "$(head -n 1 out)" 'env 2 1 7 3 k {"a":"b"}'
check 'the environment has the database with an absolute path' equal "$(sed -n 2p out)" "sqlite:$here/readpast.db"
check 'the environment has the claim as settling commands take it' grep -qE '^2:[0-9]+$' <(sed -n 3p out)

readpast enqueue tracing own --header traceparent=mine --quiet
TRACEPARENT=00-aa-bb-01 TRACESTATE='k=v, l' BAGGAGE=a=b readpast enqueue tracing env --quiet
TRACEPARENT=00-aa-bb-01 readpast enqueue tracing both --header traceparent=mine --header x=y --quiet
TRACEPARENT='' readpast enqueue tracing none --quiet
BAGGAGE=$'a\nLD_PRELOAD=x' readpast enqueue tracing lines --quiet 2>err
check 'a trace of two lines is not passed on, and a message says so' grep -q 'BAGGAGE is not passed on: it has a character' err
TRACEPARENT=$(printf '%0129d' 0) readpast enqueue tracing long --quiet 2>err
check 'a trace that is too long is not passed on, and a message says so' grep -q 'TRACEPARENT is not passed on: it is too long' err
readpast enqueue tracing header --header $'baggage=a\nb' --quiet
# shellcheck disable=SC2016
TRACEPARENT=worker TRACESTATE=worker readpast work tracing --drain --quiet -- \
	sh -c 'echo "$0 $TRACEPARENT;$TRACESTATE;$BAGGAGE;"' {} >out
check "a handler has the trace of the client that enqueued, and no other" equal "$(cat out)" 'own mine;;;
env 00-aa-bb-01;k=v, l;a=b;
both mine;;;
none worker;worker;;
lines worker;worker;;
long worker;worker;;
header worker;worker;;'

readpast queue set q --backoff 1h >/dev/null
id=$(readpast enqueue q x)
check 'another exit status is a failed attempt' \
	equal "$(last_line q --drain -- sh -c 'echo first >&2; echo last >&2; exit 3')" '0 done, 1 failed, 0 dead, 0 released'
check 'the error of the attempt is the end of standard error' equal "$(error_of "$id")" 'first\nlast'
check 'the job waits for its backoff, and --drain does not wait for the job' equal "$(state "$id")" scheduled
check 'the message about the attempt is one line' grep -q 'failed, attempt 1 of 3: first\\nlast$' err
id=$(readpast enqueue q x)
readpast work q --drain -- sh -c 'printf "%0300d" 0 >&2; exit 3' >/dev/null 2>err
check 'the message has the first 200 characters of the error' grep -qE ': 0{200}\.\.\.$' err
id=$(readpast enqueue q x)
readpast work q --drain -- sh -c 'exit 3' >/dev/null 2>&1
check 'without output the error is the exit status' equal "$(error_of "$id")" 'exit status 3'
id=$(readpast enqueue q x)
# shellcheck disable=SC2016
readpast work q --drain -- sh -c 'kill -9 $$' >/dev/null 2>&1
check 'a signal is a failed attempt' equal "$(error_of "$id")" 'killed by signal 9 (Killed)'
readpast enqueue signals x --quiet
check 'a worker that is started with SIGCHLD ignored learns the exit status of a handler' equal \
	"$(env --ignore-signal=CHLD "$READPAST" work signals --drain -- true 2>err)" '1 done, 0 failed, 0 dead, 0 released'
readpast enqueue signals x --quiet
env --block-signal=TERM "$READPAST" work signals --drain --quiet -- env --list-signal-handling true >out 2>&1
check 'a handler starts with no signal blocked' equal "$(grep BLOCK out)" ''
check 'a handler starts with no signal that the worker ignores' equal "$(grep -E 'PIPE|XFSZ' out)" ''
id=$(readpast enqueue q x)
readpast enqueue late x --expire 1ms --quiet
readpast cron add late tick 'every 1s' >/dev/null
sleep 1.1
check 'a worker that drains fires the schedules that are due' grep -qx '[1-9] done, 0 failed, 0 dead, 0 released' <<<"$(last_line late --drain -- true)"
check 'a worker that drains cancels jobs that expired' equal "$(readpast list late --json | jq -r .state)" ''
readpast cron remove tick >/dev/null
check 'a handler that exits with 65 makes the job dead at once' equal "$(last_line q --drain -- sh -c 'echo bad >&2; exit 65')" '0 done, 0 failed, 1 dead, 0 released'
check 'the dead job stays dead' equal "$(state "$id")" dead
seq 40 | readpast enqueue scarce --max-attempts 1 --quiet
(ulimit -n 64; readpast work scarce -j 40 --release-delay 10ms --drain -- sleep .2) >out 2>err
check 'jobs are released if the worker has too few descriptors to start their handlers' \
	grep -qE '^40 done, 0 failed, 0 dead, [1-9][0-9]* released' out
check '... and a message says what helps' grep -q 'cannot run sleep now: Too many open files; raise the limit' err
head -c 4000000 /dev/zero | readpast enqueue scarce --max-attempts 1 --quiet
(ulimit -f 2000; readpast work scarce --drain -- true) >out 2>err
check 'a job is released if its payload is larger than a file of the worker may be' \
	equal "$(tail -n 1 out)" '0 done, 0 failed, 0 dead, 1 released'
check '... and a message says what helps, too' grep -q 'cannot run true now: File too large; raise the limit' err
id=$(readpast enqueue q x)
check 'a handler that exits with 75 releases the job' equal "$(last_line q --drain -- sh -c 'exit 75')" '0 done, 0 failed, 0 dead, 1 released'
check 'the attempt of the released job is not counted' equal "$(field attempt "$(readpast show "$id" --json)")" 0
id=$(readpast enqueue q x)
readpast work q --drain --timeout 200ms -- sleep 60 >/dev/null 2>err
check 'a handler that takes too long has failed' grep -q 'timed out' <(error_of "$id")
readpast enqueue timed x --timeout 200ms --max-attempts 1 --quiet
readpast work timed --drain -- sleep 60 >/dev/null 2>err
check 'the timeout of a job ends its handler' equal "$(error_of "$((id + 1))")" 'timed out after 200 ms'
readpast queue set timed --timeout 300ms >/dev/null
readpast enqueue timed x --max-attempts 1 --quiet
readpast work timed --drain -- sleep 60 >/dev/null 2>err
check 'the timeout of a queue ends the handler' equal "$(error_of "$((id + 2))")" 'timed out after 300 ms'
readpast enqueue timed x --max-attempts 1 --quiet
readpast work timed --drain --timeout 100ms -- sleep 60 >/dev/null 2>err
check '--timeout has precedence over both' equal "$(error_of "$((id + 3))")" 'timed out after 100 ms'
readpast enqueue timed x --timeout 1ms --max-attempts 1 --quiet
check 'with --timeout 0 there is no limit' equal "$(last_line timed --drain --timeout 0 -- sleep 0.1)" '1 done, 0 failed, 0 dead, 0 released'
id=$(readpast enqueue timed x --max-attempts 2)
check 'a handler that exits with 65 after its time-out has failed' equal \
	"$(last_line timed --max-jobs 1 --timeout 200ms -- sh -c 'trap "exit 65" TERM; sleep 60 & wait')" \
	'0 done, 1 failed, 0 dead, 0 released'
readpast cancel "$id" >/dev/null
for _ in 1 2 3 4; do readpast enqueue slow x --quiet; done
# shellcheck disable=SC2016
readpast work slow --drain --quiet -- env R="$READPAST" sh -c '"$R" stats slow --json; sleep 0.3' >out 2>err
check 'a worker does not prefetch slow jobs' equal "$(jq -r .running out | sort | uniq -c | xargs)" '4 1'
id=$(readpast enqueue q x)
head -c 9000 /dev/zero | tr '\0' y >long
readpast work q --drain -- sh -c "cat '$here/long' >&2; echo END >&2; exit 1" >/dev/null 2>&1
check 'the error has the last 4 KiB of the output' equal "$(error_of "$id" | wc -c)" 4096
check 'the error ends with the end of the output' grep -q 'yEND$' <(error_of "$id")

id=$(printf 'a\0b' | readpast enqueue nul --one)
readpast work nul --drain -- echo {} >/dev/null 2>&1
check 'a payload with a NUL cannot be an argument: the job is dead' grep -q 'NUL' <(error_of "$id")
id=$(head -c 200000 /dev/zero | tr '\0' y | readpast enqueue big --one)
readpast work big --drain -- echo {} >/dev/null 2>&1
check 'a payload over 128 KiB cannot be an argument' grep -q '128 KiB' <(error_of "$id")
head -c 300000 /dev/zero | tr '\0' y | readpast enqueue big --one --quiet
check 'both payloads can be read from standard input' equal "$(readpast work big --drain -- wc -c 2>/dev/null | head -n 1)" 300000

readpast enqueue own x --quiet
# shellcheck disable=SC2016
check 'a handler that settles its own claim counts as done' \
	equal "$(last_line own --drain -- sh -c '"$0" complete "$READPAST_CLAIM"' "$READPAST")" '1 done, 0 failed, 0 dead, 0 released'

settle_own() { # CODE: let a handler run this shell code, in which $0 is readpast
	readpast enqueue own x --quiet
	last_line own --max-jobs 1 -- sh -c "$1" "$READPAST"
}
readpast queue set own --max-attempts 2 --keep-done 1h >/dev/null
# shellcheck disable=SC2016
{
	check 'a handler that completes its own claim counts as done in a queue that keeps jobs' equal "$(settle_own '"$0" complete "$READPAST_CLAIM"')" '1 done, 0 failed, 0 dead, 0 released'
	check 'a handler may release its claim for a time' \
		equal "$(settle_own '"$0" release "$READPAST_CLAIM" --delay 1h')" '0 done, 0 failed, 0 dead, 1 released'
	check 'a handler that has released its claim may exit with any status' \
		equal "$(settle_own '"$0" release "$READPAST_CLAIM" --delay 1h; exit 1')" '0 done, 0 failed, 0 dead, 1 released'
	check 'the released job is scheduled, and its attempt not counted' \
		equal "$(readpast list own --json | grep -c '"state":"scheduled".*"attempt":0')" 2
	check 'a handler may fail its own claim' equal "$(settle_own '"$0" fail "$READPAST_CLAIM" --error why --retry-in 1h' 2>err)" '0 done, 1 failed, 0 dead, 0 released'
	check 'the message has the error that the handler gave' grep -q 'failed, attempt 1 of 2: why$' err
	check 'a handler may let its own job die' equal "$(settle_own '"$0" fail "$READPAST_CLAIM" --error bad --for-good' 2>err)" '0 done, 0 failed, 1 dead, 0 released'
	check 'the message says that the job is dead' grep -q 'is dead, attempt 1 of 2: bad$' err
	check 'a handler may cancel its own job' equal "$(settle_own '"$0" cancel "$READPAST_JOB_ID"')" '0 done, 0 failed, 0 dead, 0 released, 1 cancelled'
	readpast enqueue own x --quiet
	check 'after a job has died like this, work exits with 7' status 7 readpast work own --drain -- sh -c '"$0" fail "$READPAST_CLAIM" --error bad --for-good' "$READPAST"
	# The handler runs so long that several renewals of its lease are due.
	check 'a handler that has settled its claim may go on' equal "$(
		readpast enqueue own x --quiet
		last_line own --max-jobs 1 --lease 300ms -- sh -c \
			'"$0" release "$READPAST_CLAIM" --delay 1h; sleep 1; echo went on >went-on' "$READPAST" 2>err
	)" '0 done, 0 failed, 0 dead, 1 released'
	check 'the handler that has settled its claim runs to its end' equal "$(cat went-on)" 'went on'
	check 'no lease was lost' equal "$(grep -c 'lost\|no longer' err)" 0
}

readpast enqueue ten.a x --quiet
readpast enqueue ten.b x --quiet
readpast enqueue 'ten.*' x --quiet
readpast enqueue tens x --quiet
# shellcheck disable=SC2016
readpast work 'ten.?' --drain -- sh -c 'echo "$READPAST_QUEUE"' >out 2>err
check 'a worker serves all queues that match a pattern' equal "$(sort out)" '3 done, 0 failed, 0 dead, 0 released
ten.*
ten.a
ten.b'
check 'the worker prints which queues it serves' grep -q '^serving ten\.? of .*: 3 ready, 1 at a time$' err
readpast enqueue ten.a x --quiet
readpast enqueue 'ten.*' x --quiet
# shellcheck disable=SC2016
check 'a star after a backslash is a plain star' equal "$(
	readpast work 'ten.\*' --drain --quiet -- sh -c 'echo "$READPAST_QUEUE"')" 'ten.*'
check 'a pattern makes no queue' equal "$(readpast work 'no-such-*' --drain -- true 2>err)" '0 done, 0 failed, 0 dead, 0 released'
for command in list stats pause claim 'wait --queue'; do
	# shellcheck disable=SC2086
	check "$command takes no pattern" refuses 3 'no queue named no-such-\*; only workers take patterns$' \
		readpast $command 'no-such-*'
done
readpast work 'ten*' --quiet -- true 2>err &
worker=$!
has_worker() { readpast why "$1" --json | grep -q '"workers":1'; }
until readpast workers --json | grep -q 'ten\.a'; do sleep 0.05; done
readpast pause ten.a
id=$(readpast enqueue ten.a x)
check 'stats counts the worker for each queue' equal "$(readpast stats ten.b --json | grep -o '"workers":[0-9]*')" '"workers":1'
check 'why counts the worker for a queue of its pattern' has_worker "$id"
kill "$worker"
wait "$worker"
readpast resume ten.a

check 'a missing command: exit 2, and no job was claimed' \
	refuses 2 'not found' readpast work q -- no-such-command
printf '#!/bin/sh\n' >notexec
check 'a file that is not executable: exit 2' refuses 2 './notexec: Permission denied' readpast work q -- ./notexec
check 'a file in PATH that is not executable: exit 2' refuses 2 'notexec: Permission denied' env PATH="$here:$PATH" "$READPAST" work q -- notexec
mkdir a-folder
check 'a directory as a command is refused' refuses 2 './a-folder: Is a directory' readpast work q -- ./a-folder
check 'a missing command line is refused' refuses 2 'which command' readpast work q
check 'a missing queue is refused' refuses 2 'which queue' readpast work -- true
seq 5 | readpast enqueue attached --quiet
check 'a value may be attached to its option' \
	equal "$(last_line attached -j4 --drain -- true)" '5 done, 0 failed, 0 dead, 0 released'
check '--jobs=N does the same as -j N' refuses 2 '1 to 1024' readpast work q --jobs=0 -- true
check 'a number out of range is refused' refuses 2 '1 to 1024' readpast work q -j 0 -- true
check 'a duration without a unit is refused' refuses 2 'duration' readpast work q --lease 5 -- true

readpast enqueue first b --quiet
readpast enqueue second a --quiet
check 'the queue that is listed first is preferred' \
	equal "$(readpast work second first --drain -- echo {} | head -n 2 | paste -sd,)" a,b
seq 10 | readpast enqueue most --quiet
check '--max-jobs ends the worker after so many jobs' equal "$(last_line most --max-jobs 3 -- true)" '3 done, 0 failed, 0 dead, 0 released'
check 'the other jobs stay ready' equal "$(field ready "$(readpast stats most --json)")" 7
check 'jobs that were fetched are released, with no attempt' equal "$(field running "$(readpast stats most --json)")" 0

readpast enqueue later x --delay 400ms --quiet
"$READPAST" work later -- touch ran.later >/dev/null &
worker=$!
check 'a job that is scheduled runs when it is due' eventually test -e ran.later
readpast enqueue later x --quiet
check 'the worker is in the list of workers' grep -q "$worker" <(readpast workers)
kill -TERM "$worker"
wait "$worker"
check 'TERM ends a worker that is idle' equal "$?" 0

readpast enqueue drain a b --quiet
handler slow 'touch started; while [ ! -e go ]; do sleep 0.05; done'
"$READPAST" work drain -- ./slow >out 2>err &
worker=$!
eventually test -e started
kill -TERM "$worker"
touch go
wait "$worker"
check 'after the first signal running handlers may finish' equal "$(tail -n 1 out)" '1 done, 0 failed, 0 dead, 0 released'
check 'after the first signal no other job is started' equal "$(field ready "$(readpast stats drain --json)")" 1

rm -f started
readpast enqueue hard x --quiet
handler stubborn 'touch started; sleep 1000 & wait'
"$READPAST" work hard -- ./stubborn >out 2>err &
worker=$!
eventually test -e started
kill -TERM "$worker"
eventually grep -q 'waiting for 1 handler' err
kill -TERM "$worker"
wait "$worker"
check 'the second signal ends handlers and releases their jobs' \
	equal "$(tail -n 1 out)" '0 done, 0 failed, 0 dead, 1 released'

handler parent 'echo $$ >pid.parent; sleep 1000 & echo $! >pid.child; touch started; wait'
rm -f started
readpast enqueue orphan x --quiet
"$READPAST" work orphan -- ./parent >out 2>err &
worker=$!
eventually test -e started
kill -9 "$worker"
gone() {
	! kill -0 "$(cat pid.parent)" && ! kill -0 "$(cat pid.child)"
}
check 'if a worker is killed, its handlers and their children end' eventually gone

rm -f started
id=$(readpast enqueue cancelled x)
"$READPAST" work cancelled --lease 600ms -- ./parent >out 2>err &
worker=$!
eventually test -e started
readpast cancel "$id"
check 'the handler of a cancelled job is killed' eventually gone
kill -TERM "$worker"
wait "$worker"

readpast enqueue json x --quiet
readpast work json --drain --log json -- true 2>err >/dev/null
check '--log json writes the events' equal "$(sed 's/.*"event":"\([a-z]*\)".*/\1/' err | paste -sd,)" claimed,started,settling,settled

check 'each event has its queue and its time' equal \
	"$(grep -cE '"time":"2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z","queue":"json"' err)" 4
readpast enqueue json x --quiet
readpast work json --max-jobs 1 --log json -- sh -c 'echo "no \"route\"" >&2; printf "\303\n" >&2; exit 1' 2>err >/dev/null
check 'the settled event has the error of an attempt that failed' grep -qE '"event":"settled".*"error":"no \\"route\\"\\n' err
check 'each line of --log json is a JSON object' equal "$(grep '^{' err | jq -r .event | paste -sd,)" claimed,started,settling,settled

# ---- messages of work, and its exit status ----

readpast enqueue said a b c --quiet
readpast enqueue also a --quiet
check 'work prints what it serves and where' \
	refuses 0 "^serving said, also of $here/readpast.db: 4 ready, 3 at a time\$" \
	readpast work said also -j 3 --drain -- true
check 'work makes a missing queue and prints this' \
	equal "$(readpast work typo --drain -- true 2>&1 >/dev/null)" \
	"readpast: created queue typo in $here/readpast.db, because it did not exist
serving typo of $here/readpast.db: 0 ready, 1 at a time"
readpast enqueue said a --quiet
readpast pause said --reason 'relay is down'
readpast work said --drain -- true >out 2>err
check 'work prints that a queue is paused, with the reason' \
	grep -q '^readpast: queue said is paused: relay is down;' err
readpast resume said
check '--quiet prints nothing if all goes well' \
	equal "$(readpast work said --drain --quiet -- true 2>&1)" ''
readpast enqueue said a --quiet --max-attempts 1
check '--quiet still prints problems' \
	equal "$(readpast work said --drain --quiet -- sh -c 'echo bad >&2; false' 2>&1)" \
	'bad
readpast: job '"$(readpast list said --state dead --json | sed 's/{"id":\([0-9]*\).*/\1/')"' is dead, attempt 1 of 1: bad'

# deaths N: enqueue N jobs whose handlers fail for good, and one job that succeeds
deaths() {
	readpast queue set "d$1" --max-attempts 1 >/dev/null
	seq 0 "$1" | readpast enqueue "d$1" --quiet
}
deaths 0
deaths 1
deaths 5
# shellcheck disable=SC2016
handler not_zero 'exit "$1"'
check 'if no job has died, work exits with 0' status 0 readpast work d0 --drain -- ./not_zero {}
check 'if a job has died, work exits with 7' status 7 readpast work d1 --drain -- ./not_zero {}
check 'if a job has died, work --max-jobs exits with 7' status 7 readpast work d5 --max-jobs 2 -- ./not_zero {}
"$READPAST" work d5 -- ./not_zero {} >/dev/null 2>&1 &
worker=$!
all_dead() {
	[[ $(field dead "$(readpast stats d5 --json)") == 5 ]]
}
eventually all_dead
kill -TERM "$worker"
wait "$worker"
check 'a worker without --drain is stopped by a signal: exit 0' equal $? 0

readpast queue set again --backoff 50ms --max-attempts 3 >/dev/null
readpast enqueue again x --quiet
# shellcheck disable=SC2016
handler third 'echo x >>calls; [ "$(wc -l <calls)" = 3 ]'
check '--drain=settled waits for retries' \
	equal "$(last_line again --drain=settled -- ./third)" '1 done, 2 failed, 0 dead, 0 released'
readpast enqueue again x --quiet
check '--drain=settled ends when the job is dead: exit 7' status 7 readpast work again --drain=settled -- false
check 'no other word may follow --drain=' refuses 2 'expected settled' readpast work again --drain=all -- true

check '--drain settled with a space is refused' refuses 2 'work: --drain settled: write --drain=settled' \
	readpast work again --drain settled -- true
# Start a worker on two jobs, and send it SIGTERM during the first job. Prints its exit
# status and the last line of its output.
stopped_with() { # OPTIONS
	rm -f started go
	readpast purge cut --state ready --yes >/dev/null 2>&1
	readpast enqueue cut a b --quiet
	"$READPAST" work cut "$@" -- ./slow >out 2>err &
	worker=$!
	eventually test -e started
	kill -TERM "$worker"
	touch go
	wait "$worker" 2>/dev/null
	echo "$? $(tail -n 1 out)"
}
check 'work --drain that is stopped before the end ends by the signal' \
	equal "$(stopped_with --drain)" '143 1 done, 0 failed, 0 dead, 0 released'
check '--max-jobs that is stopped before the end ends by the signal' equal "$(stopped_with --max-jobs 2)" '143 1 done, 0 failed, 0 dead, 0 released'
check '--max-jobs that is stopped after its last job exits with 0' equal "$(stopped_with --max-jobs 1)" '0 1 done, 0 failed, 0 dead, 0 released'

rm -f started go
readpast enqueue told x --quiet
"$READPAST" work told --grace 90s -- ./slow >/dev/null 2>err &
worker=$!
eventually test -e started
kill -TERM "$worker"
check 'after the first signal work prints how many handlers it waits for, and how long' \
	eventually grep -qx 'readpast: waiting for 1 handler, 90s at most (--grace); a second signal ends it' err
kill -TERM "$worker"
wait "$worker"

# Delete the file -shm while a worker has it open. In this file all processes that have
# the database open share the state of -wal. The next process creates a new -shm. If the
# worker continued with the old -shm, the two processes would overwrite each other's
# changes. So the worker must fail.
export READPAST_DB=sqlite:$here/beside.db
readpast enqueue q x y --quiet
"$READPAST" work idle -- true >out 2>err &
worker=$!
served() {
	readpast workers | grep -q idle
}
eventually served
rm beside.db-shm
readpast enqueue q z --quiet
wait "$worker"
check 'a worker whose -shm was deleted fails' equal $? 1
check 'the worker prints this in one line' equal "$(grep -v '^serving\|: created queue' err)" \
	"readpast: $here/beside.db-shm was deleted or replaced while it was open, so writes would be lost: open the database again"
check 'jobs that were enqueued meanwhile are in the queue' \
	equal "$(sql 'select group_concat(cast(payload as text)) from readpast_job')" x,y,z
readpast enqueue held x --quiet
"$READPAST" work held --drain -- rm beside.db-shm >out 2>err
check 'a worker that fails says how many jobs it could not give back' grep -qx \
	'readpast: 1 job could not be given back; each is ready again when its lease is over' err

readpast enqueue hangup x --quiet
# shellcheck disable=SC2016
(
	trap '' HUP
	exec "$READPAST" work hangup --drain -- sh -c 'kill -HUP $PPID'
) >out 2>err
check 'a worker that nohup has started goes on after a hangup' equal "$(tail -n 1 out)" '1 done, 0 failed, 0 dead, 0 released'

ends_each_time() {
	for _ in {1..100}; do
		timeout 60 "$READPAST" --db sqlite:/nowhere/x.db work q -- true 2>/dev/null
		(($? == 1)) || return 1
	done
}
check 'a worker that fails at once ends, each time' ends_each_time
finish
