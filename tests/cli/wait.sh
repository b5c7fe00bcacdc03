#!/usr/bin/env bash
# wait.sh READPAST sqlite:|postgres: - test the command `wait`, and `enqueue --wait`.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
on_database "$2"
mkfifo hold

put() { # QUEUE PAYLOAD [OPTION...]: enqueue a job and print its id
	readpast enqueue "$@" 2>/dev/null
}
# is_waiting PID: the process waits for the end of a job. On SQLite it sleeps in poll() or
# ppoll() then. A client of a server also sleeps there while it waits for an answer, but
# has registered its session in a table before it waits for a job.
is_waiting() {
	if [[ -z ${schema-} ]]; then
		[[ $(cut -d' ' -f1 "/proc/$1/syscall") =~ ^(7|271)$ ]]
	else
		[[ $(sql "select count(*) from $schema.job_waiter
			join pg_stat_activity using (pid)") != 0 ]]
	fi
}
# begin_wait ARGUMENT...: start a wait, which writes to ./said and ./complained. Sets
# $wait to its pid.
begin_wait() {
	"$READPAST" wait "$@" >said 2>complained &
	wait=$!
	eventually is_waiting $wait
}
# end_wait: wait until the process that begin_wait started ends. Sets $got to its
# exit status and to what it printed.
end_wait() {
	wait $wait
	got="$? $(cat said complained)"
}

# ---- exit statuses ----

was_done=$(put q "done")
readpast complete "$(claim_of "$(readpast claim q)")"
kept=$(put q kept --keep 1h)
readpast complete "$(claim_of "$(readpast claim q)")"
dead=$(put q dead)
readpast fail "$(claim_of "$(readpast claim q)")" --error 'no such customer' --for-good
cancelled=$(put q cancelled)
readpast cancel "$cancelled"
live=$(put q live --delay 1h)

says() { # STATUS OUTPUT ARGUMENT...: wait exits with STATUS and prints OUTPUT
	status "$1" readpast wait "${@:3}" && equal "$(cat out)" "$2"
}
check 'wait for a done job that is not kept exits with 0 and prints this' says 0 "$was_done done (not kept)" "$was_done"
check 'wait for a done job that is kept exits with 0' says 0 "$kept done" "$kept"
check 'wait for a dead job exits with 7' says 7 "$dead dead" "$dead"
check 'the error of the dead job is on standard error' grep -q 'no such customer' err
escapes=$(put q escapes)
readpast fail "$(claim_of "$(readpast claim q)")" --for-good --error $'two\nlines\033[2J'
check 'wait for a job whose error has control characters prints one line' refuses 7 'is dead' readpast wait "$escapes"
check 'control characters of an error are escaped' grep -qF 'two\nlines\x1b[2J' err
check 'wait for a cancelled job exits with 5' says 5 "$cancelled cancelled" "$cancelled"
check 'a wait that times out exits with 6 and prints one line' refuses 6 "timed out after 50ms; job $live is still scheduled \(due in 59m\)\$" \
	readpast wait "$live" --timeout 50ms
check 'wait for an id that was never given exits with 3 and prints one line' \
	refuses 3 'no job has the id 999: this id was never given to a job' readpast wait "$live" 999
check 'of several jobs the worst counts: dead before cancelled' status 7 readpast wait "$was_done" "$cancelled" "$dead"
check 'of several jobs cancelled counts before done' status 5 readpast wait "$was_done" "$cancelled"
check 'of several jobs a time-out counts before dead' status 6 readpast wait "$live" "$dead" --timeout 20ms
check '--any ends with the first jobs that have ended' says 5 "$cancelled cancelled" \
	"$live" "$cancelled" --any
check '--any with more ids than one wait may have is refused' refuses 2 '--any: expected at most 100000 ids' \
	readpast wait --any --timeout 50ms "$cancelled" {1..100000}
check '--quiet prints nothing' says 5 '' "$cancelled" --quiet
check '--json has the state and the error' says 7 \
	"{\"id\":$dead,\"state\":\"dead\",\"kept\":true,\"error\":\"no such customer\",\"result\":null}" \
	"$dead" --json
check 'wait without ids and without a queue is refused' refuses 2 'which jobs' readpast wait
check 'ids and a queue together are refused' refuses 2 'either ids or --queue' readpast wait 1 --queue q
check 'a word in place of an id is refused' refuses 2 "expected a job's id" readpast wait x
check 'an unknown queue is refused' refuses 3 'no queue nowhere' readpast wait --queue nowhere
check 'a wait for a queue with a live job times out' refuses 6 '^readpast: timed out after 20ms; queue q still has a live job$' \
	readpast wait --queue q --timeout 20ms
readpast cancel "$live"
check 'a wait for an empty queue ends at once' says 0 '' --queue q

# ---- waiting ----

id=$(put w x)
claim=$(claim_of "$(readpast claim w)")
begin_wait "$id"
readpast complete "$claim"
end_wait
check 'a wait ends when its job does' equal "$got" "0 $id done (not kept)"
id=$(put w x)
begin_wait --queue w
readpast cancel "$id"
end_wait
check 'a wait for a queue ends when the queue is empty' equal "$got" "0 "

ends_wait() { # MESSAGE PAYLOAD...: a signal ends `enqueue --wait`, which prints MESSAGE
	local id
	"$READPAST" enqueue signalled "${@:2}" --wait >/dev/null 2>complained &
	wait=$!
	eventually is_waiting $wait
	kill -TERM $wait
	wait $wait 2>/dev/null
	id=$(readpast list signalled --json | jq .id | head -n 1)
	readpast purge signalled --state ready --yes >/dev/null
	equal "$(tail -n 1 complained)" "readpast: interrupted; job $id$1 again)"
}
check 'a signal that ends enqueue --wait does not end the job' \
	ends_wait ' is not cancelled (readpast wait waits for it' x
check '... nor the jobs, of several' \
	ends_wait ' and those after it are not cancelled (readpast wait waits for them' x y

id=$(put w x)
begin_wait "$id"
kill -TERM $wait
wait $wait 2>/dev/null
check 'a signal ends a wait' equal $? 143
check 'the signal does not end the job' equal "$(field state "$(readpast show "$id" --json)")" ready

start_worker w --lease 1s
eventually is_running "$id"
begin_wait "$id"
kill_worker
start_worker w --lease 1s
# shellcheck disable=SC2016
eventually eval '[[ $(field attempt "$(readpast show '"$id"' --json)") == 2 ]]'
check 'a wait goes on when the worker has died' kill -0 $wait
echo >hold
end_wait
check 'the wait ends with the next attempt' equal "$got" "0 $id done (not kept)"
kill -9 "$worker"
wait "$worker" 2>/dev/null

# ---- results ----

# shellcheck disable=SC2016
"$READPAST" work r --quiet -- sh -c 'read -r x; [ "$x" != bad ] || exit 65; printf "%s" "$x!" >&3' 2>/dev/null &
readpast queue set r >/dev/null
gives() { # STATUS OUTPUT ARGUMENT...: an enqueue exits with STATUS and prints OUTPUT
	status "$1" readpast enqueue r "${@:3}" && equal "$(cat out)" "$2"
}
check 'enqueue --wait says how the job ended' status 0 readpast enqueue r a --wait
check 'enqueue --wait prints that the job is done' grep -qE '^[0-9]+ done \(not kept\)$' out
check 'enqueue --wait --result prints the result' gives 0 'a!' a --wait --result
check 'enqueue --wait --result prints the results of all jobs in their order' gives 0 'a!b!c!' a b c --wait --result
check 'jobs that were waited for are not kept' equal "$(field "done" "$(readpast stats r --json)")" 0
check 'with --keep the result is printed, too' gives 0 'a!' a --wait --result --keep 1h
check 'with --keep the job is kept' equal "$(field "done" "$(readpast stats r --json)")" 1
check 'with --keep for a shorter time than 10 minutes the result is printed' gives 0 'a!' a --wait --result --keep 1m
kept_for() { readpast list r --state "done" --json | jq -r .keep_ms | head -n 1; }
check 'the job is kept for that time once its result was read' equal "$(kept_for)" 60000
readpast queue set r --keep-done 2m >/dev/null
check 'if the queue keeps jobs the result is printed' gives 0 'b!' b --wait --result
check 'the job is kept as the queue says once its result was read' equal "$(kept_for)" 120000
readpast queue set r --keep-done 0s >/dev/null
readpast purge r --state "done" --yes >/dev/null
id=$(put r 'kept result' --keep 1h)
check 'wait --result prints the bytes' says 0 'kept result!' "$id" --result
check '--json has the result' grep -q '"result":"kept result!"' \
	<(readpast wait "$id" --json)
readpast pause r
theirs=$(put r theirs --unique theirs --keep 1d)
"$READPAST" enqueue r x --unique theirs --wait --result >out 2>/dev/null &
eventually is_waiting $!
readpast resume r
wait $!
check 'a job with a result that another client has enqueued stays' equal "$(readpast show "$theirs" --json | jq -r '.state + " " + .result')" 'done theirs!'
readpast pause r
theirs=$(put r theirs --unique theirs)
"$READPAST" enqueue r x --unique theirs --wait --result >out 2>err &
eventually is_waiting $!
readpast resume r
wait $!
check 'enqueue --wait waits for a job that exists and whose result is not kept, and exits with 0' equal "$?,$(cat out)" 0,
check 'a message says that the result was not kept' equal "$(cat err)" \
	"readpast: job $theirs is done, but was not kept, so it has no result: the enqueue that added the job did not ask for a result"
check 'enqueue --unique --wait --result prints the result' gives 0 'a!' a --unique shared --wait --result
check 'a job with a unique key is kept for 10 minutes, for other clients that wait' equal \
	"$(readpast list r --state "done" --json | jq -c 'select(.unique_key == "shared") | .keep_ms')" 600000
check 'enqueue --wait of a job that dies exits with 7' gives 7 '' bad --wait --result
check 'enqueue --wait that times out exits with 6' gives 6 '' a --delay 1h --wait --timeout 30ms
check 'enqueue --result needs --wait' refuses 2 'needs --wait' readpast enqueue r a --result

# ---- a handler that would wait for its own job ----

# shellcheck disable=SC2016
# in_handler N COMMAND: run the command in a handler of `work -j N`. Prints its output
# and its exit status.
in_handler() {
	put h "$2" >/dev/null
	"$READPAST" work h -j "$1" --quiet --max-jobs 1 -- \
		sh -c 'read -r x; eval "$x" >inside 2>&1; echo " $?" >>inside' 2>/dev/null
	tr -d '\n' <inside
}
other=$(put h2 x)
same=$(put h x --delay 1h)
check 'a handler of -j 1 cannot wait for its queue' grep -q 'wait for itself.* 2$' \
	<(in_handler 1 "'$READPAST' wait $same --timeout 9s")
# shellcheck disable=SC2016
"$READPAST" work 'h\*' -j 1 --quiet --max-jobs 1 -- sh -c \
	'"$0" wait "$1" --timeout 20ms >inside 2>&1; echo " $?" >>inside' "$READPAST" "$same" 2>/dev/null &
put 'h*' x >/dev/null
wait $!
check 'a handler of a queue named h* can wait for a job of the queue h' grep -q ' 6$' <(tr -d '\n' <inside)
check 'a handler of -j 1 cannot enqueue a job into its queue and wait for it' grep -q 'wait for itself.* 2$' \
	<(in_handler 1 "'$READPAST' enqueue h x --wait --timeout 9s")
check 'a handler of -j 1 can wait for another queue' grep -q ' 6$' \
	<(in_handler 1 "'$READPAST' wait $other --timeout 20ms")
check 'a handler of -j 2 can wait for its queue' grep -q ' 6$' \
	<(in_handler 2 "'$READPAST' wait $same --timeout 20ms")
# shellcheck disable=SC2016
check 'a handler of -j 2 cannot wait for its own job' grep -q 'the job that it waits for 2$' \
	<(in_handler 2 "'$READPAST' wait \$READPAST_JOB_ID --timeout 9s")
finish
