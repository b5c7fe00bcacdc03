#!/usr/bin/env bash
# Test the commands that claim, settle, show and change jobs. Also test exit statuses,
# and messages about invalid input.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

for command in list stats show complete cancel retry purge workers pause sweep claim work; do
	args=(q)
	case $command in
	show | cancel | retry) args=(1) ;;
	complete) args=(1:1) ;;
	purge) args=(q --state all --yes) ;;
	workers | sweep) args=() ;;
	work) args=(q -- true) ;;
	esac
	check "without a database $command exits with 1" refuses 1 "no database at $here/readpast.db .readpast init or .*--db " readpast "$command" "${args[@]}"
done
check 'none of these commands has made a database' test ! -e readpast.db
check 'init prints once that it has made the file, and where' \
	equal "$(readpast init 2>&1 >/dev/null; readpast init 2>&1 >/dev/null)" \
	"readpast: made the database $here/readpast.db"
check 'a claim makes no queue: exit 3' refuses 3 "no queue q in $here/readpast.db .create it with readpast queue set" readpast claim q
check 'a claim that waits makes the queue and prints this' refuses 3 "created queue q in $here/readpast.db" readpast claim q --wait 1ms
check 'the queue exists now' status 0 readpast stats q
check 'a claim that finds no job exits with 3' status 3 readpast claim q
check 'the help of --yes says what is confirmed' grep -q '^  --yes .*deleted for good' <<<"$(readpast queue drop --help)"
check 'stats of a missing queue exits with 3' refuses 3 'no queue named nowhere' readpast stats nowhere
check 'list of a missing queue exits with 3' refuses 3 'nowhere' readpast list nowhere
check 'show of a missing job exits with 3' refuses 3 '99: this id was never given to a job' readpast show 99
check 'a sqlite: URL with a host is refused' refuses 2 'a file has no host: write sqlite:x.db, or sqlite:/x.db for a path from the root' \
	readpast --db sqlite://x.db enqueue q x
check 'a folder in place of a database is refused' refuses 1 "cannot open database $here: it is a folder" \
	readpast --db "sqlite:$here" enqueue q x
check 'a file in a missing folder is refused' refuses 1 'cannot open database nowhere/x.db: there is no such folder' \
	readpast --db sqlite:nowhere/x.db enqueue q x
check 'a sqlite: URL may have an empty host' refuses 1 "no database at $here/none.db " readpast --db "sqlite://$here/none.db" stats
check 'an unknown database scheme is refused with one line and exit 2' refuses 2 'unknown database scheme' readpast --db nosql:x show 1

readpast enqueue q a b c d e --quiet
job=$(readpast claim q --lease 1h)
claim=$(claim_of "$job")
expected=id,queue,state,priority,attempt,max_attempts,claim,claim_no,worker,run_at,created_at,claimed_at,lease_until,finished_at,unique_key,kind,headers,payload,last_error,keep_ms,timeout_ms,expire_at,backoff,unique_for_ms,group_key,progress
check 'a job as JSON has the documented fields in their order' \
	equal "$(grep -oE '"[a-z_]+":' <<<"$job" | tr -d '":' | paste -sd,)" "$expected"
in_man() {
	local word
	for word in "$@"; do
		grep -qw -- "$word" "$man" || return 1
	done
}
# shellcheck disable=SC2086
check 'the manual page lists all these fields' in_man ${expected//,/ }
check 'extend without --lease uses the lease of the queue' status 0 readpast extend "$claim"
check 'extend sets the lease' status 0 readpast extend "$claim" --lease 2h
check 'complete succeeds' status 0 readpast complete "$claim"
check 'the message says that a finished job was not kept' \
	refuses 3 'finished and not kept' readpast show "${claim%:*}"
check 'why says that it was not kept' refuses 3 'finished and not kept' readpast why "${claim%:*}"
check 'cancel says that it was not kept' refuses 3 'finished and not kept' readpast cancel "${claim%:*}"
check 'an id that was never given has another message' refuses 3 'never given' readpast why 1000000
check 'a second complete is refused with exit 4' refuses 4 'no longer yours' readpast complete "$claim"
check 'complete of an unknown id exits with 3' refuses 3 'no such job' readpast complete 999:1

a=$(claim_of "$(readpast claim q)")
check 'good claims are settled, each bad one prints a line, and the worst status counts' \
	refuses 4 'no longer' readpast complete "$a" "$claim"
check 'the good claim was settled' refuses 4 'no longer' readpast complete "$a"
b=$(claim_of "$(readpast claim q)")
check 'a claim that cannot be parsed: exit 2 before anything is done' \
	refuses 2 'ID:CLAIMNO' readpast complete "$b" nonsense
check 'fail refuses to run without a reason' refuses 2 '--error' readpast fail "$b"
check 'fail succeeds' status 0 readpast fail "$b" --error 'it broke' --retry-in 1h
check 'the failed job is scheduled' equal "$(field state "$(readpast show "${b%:*}" --json)")" scheduled
check 'the failed job has its error' equal "$(field last_error "$(readpast show "${b%:*}" --json)")" 'it broke'
check 'show prints the failed attempt' grep -q 'it broke' <(readpast show "${b%:*}" | tail -n 1)
c=$(claim_of "$(readpast claim q)")
check 'fail --for-good succeeds' status 0 readpast fail "$c" --error x --for-good
check 'the job that failed for good is dead' equal "$(field state "$(readpast list q --state dead --json)")" dead
check 'retry of a dead job succeeds' status 0 readpast retry "${c%:*}"
check 'retry of a live job exits with 4' refuses 4 'is ready' readpast retry "${c%:*}"
d=$(claim_of "$(readpast claim q)")
check 'release succeeds' status 0 readpast release "$d" --delay 1h
check 'cancel succeeds' status 0 readpast cancel "${d%:*}"
check 'a second cancel exits with 4' refuses 4 'is cancelled' readpast cancel "${d%:*}"
check 'extend of a cancelled job exits with 4' refuses 4 'no longer|cancelled' readpast extend "$d" --lease 1s

job=$(readpast claim q)
check 'a running job can be cancelled' status 0 readpast cancel "$(field id "$job")"
check 'the worker that held the cancelled job is refused' refuses 4 'cancelled' readpast complete "$(claim_of "$job")"

readpast enqueue kinds a --kind x --quiet
check 'cancel of a job of another kind exits with 3' refuses 3 'of kind x' readpast cancel "$(field id "$(readpast list kinds --json)")" --kind y
check 'purge refuses to run without --yes' refuses 2 '--yes' readpast purge kinds --state all
check 'purge refuses to run without a state' refuses 2 '--state' readpast purge kinds --yes
check 'purge refuses a state that it cannot purge' refuses 2 '--state' readpast purge kinds --state running --yes
check 'purge of another kind finds no job' equal "$(readpast purge kinds --state dead --kind y --yes)" \
	'0 jobs purged (no dead job matches)'
check 'purge prints how many jobs it has deleted' equal "$(readpast purge kinds --state all --yes)" '1 job purged'

check 'queue set prints the changes' equal "$(readpast queue set q --lease 90s --max-payload 1MiB)" 'lease: 1m -> 90s
max-payload: 16MiB -> 1MiB'
check 'queue set prints that nothing has changed' equal "$(readpast queue set q --lease 90s)" 'queue q: nothing changed'
check 'queue set refuses a lease in the unit that the user typed' refuses 2 '--lease 0s: expected 1ms to 3650d' readpast queue set q --lease 0s
check 'queue set --dead-to prints the change' equal "$(readpast queue set q --dead-to buried)" 'dead-to: none -> buried'
check 'queue list shows the new dead-to' grep -qE '^  dead-to +buried$' <(readpast queue list q)
check 'queue set --dead-to has made the other queue' grep -q '^buried$' <(readpast queue list)
check 'a queue cannot have itself as dead-to' refuses 2 'expected another queue' readpast queue set q --dead-to q
check 'queues cannot have each other as dead-to' refuses 2 '^readpast: queue set: --dead-to q: expected another queue' readpast queue set buried --dead-to q
check 'the refused commands have changed nothing' equal "$(readpast queue set buried --json | grep -o '"dead_to":[^,]*')" '"dead_to":null'
check 'queue set --limit prints the change' equal "$(readpast queue set q --limit 3)" 'limit: none -> 3'
check 'queue set --json prints the limit' grep -q '"limit":3' <(readpast queue set q --json)
check '--limit none removes the limit' equal "$(readpast queue set q --limit none)" 'limit: 3 -> none'
for bad in 0 -1 x '' 100001; do
	check "--limit '$bad' is refused" refuses 2 'expected' readpast queue set q --limit="$bad"
done
check '--dead-to none removes the setting' equal "$(readpast queue set q --dead-to none)" 'dead-to: buried -> none'
readpast queue drop buried --yes
check 'queue set refuses a payload size that is too large' refuses 2 '--max-payload 2GiB: expected' readpast queue set q --max-payload 2GiB
check 'queue list has the queue' grep -q '^q$' <(readpast queue list)
check 'pause succeeds' status 0 readpast pause q
check 'a claim from a paused queue finds no job' status 3 readpast claim q
check 'stats shows that the queue is paused' grep -qE '^q .*  paused$' <(readpast stats)
check 'pause --reason succeeds' status 0 readpast pause q --reason 'no mail: “Übung”'
check 'stats shows the reason of the pause' grep -qE '^q .*  paused: no mail: “Übung”$' <(readpast stats)
check 'queue list shows the reason of the pause' equal "$(readpast queue list q | head -n 2)" 'q (paused)
  paused           no mail: “Übung”'
for command in stats 'queue list'; do
	# shellcheck disable=SC2086
	check "$command --json has the reason of the pause" equal "$(field pause_reason "$(readpast $command q --json)")" 'no mail: “Übung”'
done
check 'pausing the queue again succeeds and keeps the reason' status 0 readpast queue pause q
check 'pausing the queue again with another reason succeeds' status 0 readpast queue pause q --reason=other
check 'the other reason has replaced the first one' equal "$(field pause_reason "$(readpast stats q --json)")" other
check 'a reason that is too long is refused' refuses 2 '^readpast: pause: the reason is longer than 255 bytes' readpast pause q --reason "$(printf '%256s' x)"
check 'a reason of two lines is refused' refuses 2 '^readpast: pause: the reason has a control character .see readpast help pause.$' readpast pause q --reason $'a\nb'
check 'queue resume does the same as resume' status 0 readpast queue resume q
check 'resume removes the reason' equal "$(field pause_reason "$(readpast stats q --json)")" null
check 'pausing the queue without a reason succeeds' status 0 readpast pause q
check 'a pause without a reason has no reason' equal "$(field pause_reason "$(readpast queue list q --json)")" null
readpast resume q
readpast enqueue drop x --quiet
readpast claim drop >/dev/null
check 'queue drop of a queue that does not exist asks for no --yes' refuses 3 'no queue named nosuch' readpast queue drop nosuch
check 'queue drop refuses to run without --yes' refuses 2 '--yes' readpast queue drop drop
check 'queue drop exits with 4 while jobs run' refuses 4 'running' readpast queue drop drop --yes
readpast complete "$(claim_of "$(readpast list drop --json)")"
check 'queue drop succeeds' status 0 readpast queue drop drop --yes

check 'stats --json has the documented fields in their order' equal "$(grep -oE '"[a-z_]+":' <<<"$(readpast stats q --json)" | tr -d '":' | paste -sd,)" \
	queue,paused,pause_reason,scheduled,ready,blocked,running,done,dead,cancelled,oldest_ready_ms,longest_running_ms,workers,done_per_s,failed_per_s,done_total,failed_total,dead_total
check 'sweep prints what it has done' equal "$(readpast sweep)" '0 due, 0 recovered, 0 dead, 0 dropped, 0 expired, 0 fired'
readpast enqueue wait x --delay 300ms --quiet
check 'claim --wait waits until a job is due' equal "$(field payload "$(readpast claim wait --wait 5s)")" x
check 'claim --wait exits with 3 if no job came' status 3 readpast claim wait --wait 50ms
check 'claim releases the jobs that it cannot print: exit 1' \
	equal "$(readpast enqueue fullq x --quiet; readpast claim fullq 2>/dev/null >/dev/full; echo $?; field state "$(readpast list fullq --json)")" '1
ready'

printf 'this is text, and long enough to be looked at as a database header: %s' {1..50} >text
check 'a file that is not a database: exit 1' refuses 1 'not a SQLite database' readpast --db sqlite:text enqueue q x
check 'the message about a URL without a scheme has a hint' refuses 2 'sqlite:queue.db' readpast --db queue.db stats
check 'an unknown scheme is refused' refuses 2 'oracle' readpast --db oracle:x stats
sqlite3 theirs.db 'create table theirs (x)'
check 'a database with other tables: exit 1, and how to add the queue' refuses 1 'readpast init' readpast --db sqlite:theirs.db enqueue q x
check 'init adds the tables of the queue to a database with other tables' status 0 readpast --db sqlite:theirs.db init
check 'enqueue works after this init' status 0 readpast --db sqlite:theirs.db enqueue q x
sqlite3 theirs.db "update readpast_meta set value = 1 where name = 'build'"
check 'a database of an earlier build is refused: exit 1' refuses 1 'made by an earlier build.*new database' readpast --db sqlite:theirs.db enqueue q x
sqlite3 theirs.db "update readpast_meta set value = 99 where name = 'schema'"
check 'a database with a newer schema is refused: exit 1' refuses 1 'newer' readpast --db sqlite:theirs.db stats
check 'a directory in place of a file is refused: exit 1' refuses 1 '.' readpast --db sqlite:. enqueue q x
check 'a folder that does not exist: exit 1' refuses 1 '.' readpast --db sqlite:no/where/x.db enqueue q x
check 'READPAST_DB names the database' equal "$(READPAST_DB=sqlite:env.db readpast enqueue q x)" 1
check '--db has precedence over READPAST_DB' equal "$(READPAST_DB=sqlite:env.db readpast --db=sqlite:opt.db enqueue q x)" 1

export READPAST_DB=sqlite:many.db
seq 20000 | readpast enqueue many --quiet
readpast queue set few >few.out
readpast enqueue few x y z --quiet
stats=$(readpast stats many)
check 'stats of 20,000 jobs prints 10k+' grep -Eq '^many +0 +10k\+ +0 ' <<<"$stats"
check 'a row of stats has at most 80 columns' equal "$(readpast stats | awk 'length > 80')" ''
check 'stats counts fewer jobs exactly' grep -Eq '^few +0 +3 +0 ' <(readpast stats few)
check 'stats --json says that a number is a lower limit' \
	grep -q '"ready": *10000, *"ready_at_least": *true' <(readpast stats many --json)
check 'stats --json does not say this of an exact number' \
	status 1 grep -q at_least <(readpast stats few --json)
readpast claim many -n 11000 --lease 1h >claims.out
check 'stats counts running jobs up to the limit' grep -Eq '^many +0 +9000 +0 +10k\+ ' <(readpast stats many)
readpast list many --state running --limit 3 >list.out 2>list.err
check 'a list of running jobs prints that it has not examined all of them' \
	grep -q 'only among the first 10000; --all searches all jobs' list.err
check 'this list has as many jobs as --limit allows' equal "$(grep -c running list.out)" 3
readpast list many --state running --limit 3 --all >list.out 2>list.err
check 'list --all examines all jobs and prints no warning' equal "$(cat list.err)" ''
check 'the list begins with the jobs that were claimed first' equal "$(awk 'NR > 1 { print $1 }' list.out | paste -sd' ')" '1 2 3'
check 'a list without --limit prints where it ends' \
	equal "$(readpast list many --state ready 2>&1 >/dev/null)" 'readpast: listed 50 jobs; --limit N lists more'
check 'a list of ready jobs is complete and prints no warning' equal "$(readpast list many --state ready --limit 1 2>&1 | tail -n 1 | awk '{ print $2 }')" ready
unset READPAST_DB

check 'without a command readpast prints the help and exits with 2' status 2 readpast
for name in '' $'a\nb' "$(printf 'x%.0s' {1..129})"; do
	check 'enqueue refuses a wrong name of a queue' refuses 2 "queue's name" readpast --db sqlite:wrong.db enqueue "$name" x
	check 'queue set refuses a wrong name of a queue' refuses 2 "queue's name" readpast --db sqlite:wrong.db queue set "$name"
done
check 'enqueue refuses a wrong kind' refuses 2 'the kind' readpast --db sqlite:wrong.db enqueue q x --kind ''
check 'enqueue refuses a wrong unique key' refuses 2 'the unique key' readpast --db sqlite:wrong.db enqueue q x --unique ''
check 'enqueue refuses too many attempts' refuses 2 'expected 1 to 1000000000' readpast --db sqlite:wrong.db enqueue q x --max-attempts 4000M
check 'the refused commands have made no database' test ! -e wrong.db
check 'an unknown command exits with 2' refuses 2 'no such command' readpast nonsense
check 'an option that took the command for its value exits with 2 and a message' refuses 2 'which command' readpast --db list
check 'the usage of a command without arguments ends with its name' equal "$(readpast sweep --help | head -n 1)" 'usage: readpast [--db URL] sweep'
check 'an unknown queue command exits with 2' refuses 2 'no such command' readpast queue nonsense
check '--db and --history may follow the command' equal "$(
	readpast init --db sqlite:behind.db >/dev/null
	readpast enqueue q x --db=sqlite:behind.db --history behind.log
	readpast list q --json --db sqlite:behind.db | grep -c .
	grep -c '"event":"enqueued"' behind.log)" '1
1
1'
check '--db= may precede the command' equal "$(readpast --db=sqlite:behind.db claim q -n5 | grep -c .)" 1
check 'an option without its value exits with 2' refuses 2 '--db needs a value' readpast stats --db
check 'an unknown option before the command exits with 2' refuses 2 'no such option: --nonsense' readpast --nonsense stats

export READPAST_DB=sqlite:json.db
readpast enqueue q a b c d --quiet
mapfile -t claims < <(readpast claim q -n 4 --json | claims_of)
check 'the JSON of settled claims is as documented' equal "$(
	readpast extend "${claims[0]}" --lease 1h --json
	readpast complete "${claims[0]}" --json
	readpast complete "${claims[0]}" 99:1 --json 2>/dev/null
	readpast fail "${claims[1]}" --error x --json
	readpast fail "${claims[2]}" --error x --for-good --json
	readpast release "${claims[3]}" --json
)" "$(
	verdict() {
		id=${1%:*}
		echo "{\"id\":$id,\"claim\":\"$1\",\"claim_no\":${1#*:},\"result\":\"$2\",\"state\":$3,\"error\":$4}"
	}
	verdict "${claims[0]}" extended '"running"' null
	verdict "${claims[0]}" completed '"done"' null
	verdict "${claims[0]}" refused null '"the job is no longer yours"'
	verdict 99:1 missing null '"no such job"'
	verdict "${claims[1]}" failed '"scheduled"' null
	verdict "${claims[2]}" failed '"dead"' null
	verdict "${claims[3]}" released '"ready"' null
)"
check 'the JSON of changed jobs is as documented' equal "$(
	readpast cancel "${claims[1]%:*}" --json
	readpast cancel "${claims[1]%:*}" --json 2>/dev/null
	readpast retry "${claims[2]%:*}" 99 --json 2>/dev/null
	readpast retry --dead q --json
	readpast purge q --state all --yes --json
	readpast pause q --json
	readpast resume q --json
	readpast queue set q --lease 9s --json | grep -o '"lease_ms.*'
	readpast queue set q --json | grep -o '"result.*'
	readpast queue drop q --yes --json
	readpast sweep --json
	readpast version --json | grep -o '"version"'
	readpast init --json
)" '{"id":2,"result":"cancelled","error":null}
{"id":2,"result":"refused","error":"job 2 is cancelled"}
{"id":3,"result":"retried","error":null}
{"id":99,"result":"missing","error":"no job has the id 99: this id was never given to a job"}
{"result":"retried","jobs":0,"taken":0}
{"result":"purged","jobs":3,"taken":0}
{"queue":"q","result":"paused"}
{"queue":"q","result":"resumed"}
"lease_ms":9000,"backoff_ms":10000,"backoff_max_ms":3600000,"priority":100,"keep_done_ms":0,"keep_dead_ms":2592000000,"max_payload":16777216,"timeout_ms":0,"dead_to":null,"limit":null,"group_limit":null,"held_until":null,"group_on_failure":"block","rate":null,"result":"changed"}
"result":"unchanged"}
{"queue":"q","result":"dropped"}
{"due":0,"recovered":0,"dead":0,"dropped":0,"expired":0,"fired":0}
"version"
{"database":"'"$here"'/json.db","result":"ready","skipped_to":null}'
unset READPAST_DB

check 'an unknown option exits with 2' refuses 2 'no such option' readpast stats --nonsense
for command in enqueue work claim complete fail release extend cancel retry purge list show hold groups \
	stats workers 'queue set' 'queue list' 'queue drop' pause resume sweep init check version help; do
	# shellcheck disable=SC2086
	check "$command --help succeeds" status 0 readpast $command --help
	check "$command is in the manual page" grep -q "^\.It Cm .*${command%% *}" "$man"
done
check 'version prints the version' grep -qE '^readpast [0-9]' <(readpast version)
seq 3000 | readpast enqueue many --quiet
check 'the message gives the reason also if an early write failed' \
	grep -q 'cannot write to standard output: No space left' <(readpast show --queue many 2>&1 >/dev/full)
check 'readpast exits with 1 if standard output is full' equal "$(readpast help >/dev/full 2>/dev/null; echo $?)" 1
finish
