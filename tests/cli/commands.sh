#!/usr/bin/env bash
# The commands that claim, settle, show and change jobs. Also exit statuses, and
# messages about invalid input.
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
	check "$command: no database, exit 1" refuses 1 "no database at $here/readpast.db .readpast init or .*--db " readpast "$command" "${args[@]}"
done
check 'none of these commands made a database' test ! -e readpast.db
check 'init says once that it made the file, and where' \
	equal "$(readpast init 2>&1 >/dev/null; readpast init 2>&1 >/dev/null)" \
	"readpast: made the database $here/readpast.db"
check 'a claim makes no queue: exit 3' refuses 3 "no queue q in $here/readpast.db .create it with readpast queue set" readpast claim q
check 'unless it waits for one, and then it says so' refuses 3 "created queue q in $here/readpast.db" readpast claim q --wait 1ms
check 'and the queue is there now' status 0 readpast stats q
check 'nothing to claim: exit 3' status 3 readpast claim q
check 'no such queue: exit 3' refuses 3 'no queue named nowhere' readpast stats nowhere
check 'list of no such queue: exit 3' refuses 3 'nowhere' readpast list nowhere
check 'no such job: exit 3' refuses 3 '99: it was never given' readpast show 99
check 'a URL with a host' refuses 2 'a file has no host: write sqlite:x.db, or sqlite:/x.db for a path from the root' \
	readpast --db sqlite://x.db enqueue q x
check 'a folder is no database' refuses 1 "cannot open database $here: it is a folder" \
	readpast --db "sqlite:$here" enqueue q x
check 'a folder that is not there' refuses 1 'cannot open database nowhere/x.db: there is no such folder' \
	readpast --db sqlite:nowhere/x.db enqueue q x
check 'an empty host is none' refuses 1 "no database at $here/none.db " readpast --db "sqlite://$here/none.db" stats
check 'no such database: exit 2, one line' refuses 2 'unknown database scheme' readpast --db nosql:x show 1

readpast enqueue q a b c d e --quiet
job=$(readpast claim q --lease 1h)
claim=$(claim_of "$job")
expected=id,queue,state,priority,attempt,max_attempts,claim,claim_no,worker,run_at,created_at,claimed_at,lease_until,finished_at,unique_key,kind,headers,payload,last_error,keep_ms,timeout_ms,expire_at,backoff,unique_for_ms,progress
check 'a job as JSON has the documented fields in order' \
	equal "$(grep -oE '"[a-z_]+":' <<<"$job" | tr -d '":' | paste -sd,)" "$expected"
in_man() {
	local word
	for word in "$@"; do
		grep -qw -- "$word" "$man" || return 1
	done
}
# shellcheck disable=SC2086
check 'the man page has them all' in_man ${expected//,/ }
check 'extend by the queue'\''s lease' status 0 readpast extend "$claim"
check 'extend' status 0 readpast extend "$claim" --lease 2h
check 'complete' status 0 readpast complete "$claim"
check 'a finished job that was not kept: the message says so' \
	refuses 3 'finished and not kept' readpast show "${claim%:*}"
check 'why says that it was not kept' refuses 3 'finished and not kept' readpast why "${claim%:*}"
check 'cancel says that it was not kept' refuses 3 'finished and not kept' readpast cancel "${claim%:*}"
check 'an id that was never given has another message' refuses 3 'never given' readpast why 1000000
check 'complete again: refused, exit 4' refuses 4 'no longer yours' readpast complete "$claim"
check 'complete an unknown id: exit 3' refuses 3 'no such job' readpast complete 999:1

a=$(claim_of "$(readpast claim q)")
check 'good ones are settled, bad ones get a line, the worst counts' \
	refuses 4 'no longer' readpast complete "$a" "$claim"
check 'the good one was settled' refuses 4 'no longer' readpast complete "$a"
b=$(claim_of "$(readpast claim q)")
check 'a claim that does not parse: exit 2, before anything is done' \
	refuses 2 'ID:CLAIMNO' readpast complete "$b" nonsense
check 'fail needs a reason' refuses 2 '--error' readpast fail "$b"
check 'fail' status 0 readpast fail "$b" --error 'it broke' --retry-in 1h
check 'it is scheduled' equal "$(field state "$(readpast show "${b%:*}" --json)")" scheduled
check 'with its error' equal "$(field last_error "$(readpast show "${b%:*}" --json)")" 'it broke'
check 'show has the failed attempt' grep -q 'it broke' <(readpast show "${b%:*}" | tail -n 1)
c=$(claim_of "$(readpast claim q)")
check 'fail for good' status 0 readpast fail "$c" --error x --for-good
check 'it is dead' equal "$(field state "$(readpast list q --state dead --json)")" dead
check 'retry' status 0 readpast retry "${c%:*}"
check 'retry of a live job: exit 4' refuses 4 'is ready' readpast retry "${c%:*}"
d=$(claim_of "$(readpast claim q)")
check 'release' status 0 readpast release "$d" --delay 1h
check 'cancel' status 0 readpast cancel "${d%:*}"
check 'cancel again: exit 4' refuses 4 'is cancelled' readpast cancel "${d%:*}"
check 'extend of a cancelled job: exit 4' refuses 4 'no longer|cancelled' readpast extend "$d" --lease 1s

job=$(readpast claim q)
check 'a running job is cancelled' status 0 readpast cancel "$(field id "$job")"
check 'its holder learns it' refuses 4 'cancelled' readpast complete "$(claim_of "$job")"

readpast enqueue kinds a --kind x --quiet
check 'cancel a job of another kind: exit 3' refuses 3 'of kind x' readpast cancel "$(field id "$(readpast list kinds --json)")" --kind y
check 'purge wants --yes' refuses 2 '--yes' readpast purge kinds --state all
check 'purge wants a state' refuses 2 '--state' readpast purge kinds --yes
check 'purge wants one that can be purged' refuses 2 '--state' readpast purge kinds --state running --yes
check 'purge of another kind finds none' equal "$(readpast purge kinds --state dead --kind y --yes)" \
	'0 jobs purged (no dead job matches)'
check 'purge' equal "$(readpast purge kinds --state all --yes)" '1 job purged'

check 'queue set says what it changed' equal "$(readpast queue set q --lease 90s --max-payload 1MiB)" 'lease: 1m -> 90s
max-payload: 16MiB -> 1MiB'
check 'queue set says when nothing changed' equal "$(readpast queue set q --lease 90s)" 'queue q: nothing changed'
check 'queue set refuses a lease in the units in which it was typed' refuses 2 '--lease 0s: expected 1ms to 3650d' readpast queue set q --lease 0s
check 'queue set --dead-to' equal "$(readpast queue set q --dead-to buried)" 'dead-to: none -> buried'
check 'queue list shows it' grep -qE '^  dead-to +buried$' <(readpast queue list q)
check 'the queue was made' grep -q '^buried$' <(readpast queue list)
check 'its own dead-to is refused' refuses 2 'expected another queue' readpast queue set q --dead-to q
check 'a circle is refused' refuses 2 'would come back' readpast queue set buried --dead-to q
check 'nothing was changed by that' equal "$(readpast queue set buried --json | grep -o '"dead_to":[^,]*')" '"dead_to":null'
check '--dead-to none ends it' equal "$(readpast queue set q --dead-to none)" 'dead-to: buried -> none'
readpast queue drop buried --yes
check 'queue set refuses a size' refuses 2 '--max-payload 2GiB: expected' readpast queue set q --max-payload 2GiB
check 'queue list' grep -q '^q$' <(readpast queue list)
check 'pause' status 0 readpast pause q
check 'a paused queue hands out nothing' status 3 readpast claim q
check 'stats show it' grep -qE '^q .*  paused$' <(readpast stats)
check 'pause --reason' status 0 readpast pause q --reason 'no mail: “Übung”'
check 'the reason is in stats' grep -qE '^q .*  paused: no mail: “Übung”$' <(readpast stats)
check 'in queue list' equal "$(readpast queue list q | head -n 2)" 'q (paused)
  paused        no mail: “Übung”'
for command in stats 'queue list'; do
	# shellcheck disable=SC2086
	check "in $command --json" equal "$(field pause_reason "$(readpast $command q --json)")" 'no mail: “Übung”'
done
check 'it stays when the queue is paused again' status 0 readpast queue pause q
check 'pausing again with another reason' status 0 readpast queue pause q --reason=other
check 'replaces the reason' equal "$(field pause_reason "$(readpast stats q --json)")" other
check 'one that is too long' refuses 2 'the reason is longer than 255 bytes' readpast pause q --reason "$(printf '%256s' x)"
check 'one of two lines' refuses 2 'the reason has a control character' readpast pause q --reason $'a\nb'
check 'queue resume is resume' status 0 readpast queue resume q
check 'resume forgets the reason' equal "$(field pause_reason "$(readpast stats q --json)")" null
check 'pausing without a reason after that' status 0 readpast pause q
check 'leaves the queue without a reason' equal "$(field pause_reason "$(readpast queue list q --json)")" null
readpast resume q
readpast enqueue drop x --quiet
readpast claim drop >/dev/null
check 'queue drop wants --yes' refuses 2 '--yes' readpast queue drop drop
check 'queue drop is refused while jobs run: exit 4' refuses 4 'running' readpast queue drop drop --yes
readpast complete "$(claim_of "$(readpast list drop --json)")"
check 'queue drop' status 0 readpast queue drop drop --yes

check 'stats as JSON' equal "$(grep -oE '"[a-z_]+":' <<<"$(readpast stats q --json)" | tr -d '":' | paste -sd,)" \
	queue,paused,pause_reason,scheduled,ready,running,done,dead,cancelled,oldest_ready_ms,longest_running_ms,workers,done_per_s,failed_per_s
check 'sweep' equal "$(readpast sweep)" '0 due, 0 recovered, 0 dead, 0 dropped, 0 expired, 0 fired'
readpast enqueue wait x --delay 300ms --quiet
check 'claim --wait until a job is due' equal "$(field payload "$(readpast claim wait --wait 5s)")" x
check 'claim --wait gives up: exit 3' status 3 readpast claim wait --wait 50ms
check 'claim gives back what it cannot print: exit 1' \
	equal "$(readpast enqueue fullq x --quiet; readpast claim fullq 2>/dev/null >/dev/full; echo $?; field state "$(readpast list fullq --json)")" '1
ready'

printf 'this is text, and long enough to be looked at as a database header: %s' {1..50} >text
check 'a file that is no database: exit 1' refuses 1 'not a SQLite database' readpast --db sqlite:text enqueue q x
check 'a database without scheme: the hint' refuses 2 'sqlite:queue.db' readpast --db queue.db stats
check 'an unknown scheme' refuses 2 'oracle' readpast --db oracle:x stats
sqlite3 theirs.db 'create table theirs (x)'
check 'a database with other tables: exit 1, and how to add ours' refuses 1 'readpast init' readpast --db sqlite:theirs.db enqueue q x
check 'init puts ours beside them' status 0 readpast --db sqlite:theirs.db init
check 'and then enqueue works' status 0 readpast --db sqlite:theirs.db enqueue q x
sqlite3 theirs.db "update readpast_meta set value = 1 where name = 'build'"
check 'a database of an earlier build: exit 1' refuses 1 'made by an earlier build.*new database' readpast --db sqlite:theirs.db enqueue q x
sqlite3 theirs.db "update readpast_meta set value = 99 where name = 'schema'"
check 'a newer schema: exit 1' refuses 1 'newer' readpast --db sqlite:theirs.db stats
check 'a directory is no database: exit 1' refuses 1 '.' readpast --db sqlite:. enqueue q x
check 'a place that is not there: exit 1' refuses 1 '.' readpast --db sqlite:no/where/x.db enqueue q x
check 'READPAST_DB' equal "$(READPAST_DB=sqlite:env.db readpast enqueue q x)" 1
check '--db goes before it' equal "$(READPAST_DB=sqlite:env.db readpast --db=sqlite:opt.db enqueue q x)" 1

export READPAST_DB=sqlite:many.db
seq 20000 | readpast enqueue many --quiet
readpast queue set few >few.out
readpast enqueue few x y z --quiet
stats=$(readpast stats many)
check 'stats of 20,000 jobs: 10k+' grep -Eq '^many +0 +10k\+ +0 ' <<<"$stats"
check 'a row of stats has 80 columns at most' equal "$(readpast stats | awk 'length > 80')" ''
check 'fewer are counted' grep -Eq '^few +0 +3 +0 ' <(readpast stats few)
check 'JSON has a number, and says what it is' \
	grep -q '"ready": *10000, *"ready_at_least": *true' <(readpast stats many --json)
check 'JSON does not say so where the number is exact' \
	status 1 grep -q at_least <(readpast stats few --json)
readpast claim many -n 11000 --lease 1h >claims.out
check 'running jobs are counted up to the limit, too' grep -Eq '^many +0 +9000 +10k\+ ' <(readpast stats many)
readpast list many --state running --limit 3 >list.out 2>list.err
check 'a list of running jobs that does not look at all of them says so' \
	grep -q 'first 10000 only; --all searches all jobs' list.err
check 'it has what was asked for' equal "$(grep -c running list.out)" 3
readpast list many --state running --limit 3 --all >list.out 2>list.err
check '--all looks at all, and says nothing' equal "$(cat list.err)" ''
check 'the longest held come first' equal "$(awk 'NR > 1 { print $1 }' list.out | paste -sd' ')" '1 2 3'
check 'a list without --limit says where it ends' \
	equal "$(readpast list many --state ready 2>&1 >/dev/null)" 'readpast: listed 50 jobs; --limit N lists more'
check 'a list of ready jobs is complete and prints no warning' equal "$(readpast list many --state ready --limit 1 2>&1 | tail -n 1 | awk '{ print $2 }')" ready
unset READPAST_DB

check 'no command: the help, exit 2' status 2 readpast
for name in '' $'a\nb' "$(printf 'x%.0s' {1..129})"; do
	check 'a wrong name makes no database: enqueue' refuses 2 "queue's name" readpast --db sqlite:wrong.db enqueue "$name" x
	check '... queue set' refuses 2 "queue's name" readpast --db sqlite:wrong.db queue set "$name"
done
check 'nor does a wrong kind' refuses 2 'the kind' readpast --db sqlite:wrong.db enqueue q x --kind ''
check 'nor a wrong key' refuses 2 'the unique key' readpast --db sqlite:wrong.db enqueue q x --unique ''
check 'nor too many attempts' refuses 2 'expected 1 to 1000000000' readpast --db sqlite:wrong.db enqueue q x --max-attempts 4000M
check 'there is none' test ! -e wrong.db
check 'no such command: exit 2' refuses 2 'no such command' readpast nonsense
check 'no such queue command: exit 2' refuses 2 'no such command' readpast queue nonsense
check 'the database and the history may be given after the command' equal "$(
	readpast init --db sqlite:behind.db >/dev/null
	readpast enqueue q x --db=sqlite:behind.db --history behind.log
	readpast list q --json --db sqlite:behind.db | grep -c .
	grep -c '"event":"enqueued"' behind.log)" '1
1
1'
check 'before the command, attached by =' equal "$(readpast --db=sqlite:behind.db claim q -n5 | grep -c .)" 1
check 'no value: exit 2' refuses 2 '--db needs a value' readpast stats --db
check 'an unknown option in front: exit 2' refuses 2 'no such option: --nonsense' readpast --nonsense stats

export READPAST_DB=sqlite:json.db
readpast enqueue q a b c d --quiet
mapfile -t claims < <(readpast claim q -n 4 --json | claims_of)
check 'JSON of what became of claims' equal "$(
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
check 'JSON of what was changed' equal "$(
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
{"id":99,"result":"missing","error":"no job has the id 99: it was never given"}
{"result":"retried","jobs":0,"taken":0}
{"result":"purged","jobs":3,"taken":0}
{"queue":"q","result":"paused"}
{"queue":"q","result":"resumed"}
"lease_ms":9000,"backoff_ms":10000,"backoff_max_ms":3600000,"priority":100,"keep_done_ms":0,"keep_dead_ms":2592000000,"max_payload":16777216,"timeout_ms":0,"dead_to":null,"result":"changed"}
"result":"unchanged"}
{"queue":"q","result":"dropped"}
{"due":0,"recovered":0,"dead":0,"dropped":0,"expired":0,"fired":0}
"version"
{"database":"'"$here"'/json.db","result":"ready","skipped_to":null}'
unset READPAST_DB

check 'no such option: exit 2' refuses 2 'no such option' readpast stats --nonsense
for command in enqueue work claim complete fail release extend cancel retry purge list show \
	stats workers 'queue set' 'queue list' 'queue drop' pause resume sweep init check version help; do
	# shellcheck disable=SC2086
	check "$command --help" status 0 readpast $command --help
	check "$command is in the man page" grep -q "^\.It Cm .*${command%% *}" "$man"
done
check 'version' grep -qE '^readpast [0-9]' <(readpast version)
check 'standard output that is full: exit 1' equal "$(readpast help >/dev/full 2>/dev/null; echo $?)" 1
finish
