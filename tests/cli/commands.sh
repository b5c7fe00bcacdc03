#!/usr/bin/env bash
# Claiming, settling, looking, changing; exit statuses and bad input.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

for command in list stats show complete cancel retry purge workers pause sweep; do
	args=(q)
	case $command in
	show | cancel | retry) args=(1) ;;
	complete) args=(1:1) ;;
	purge) args=(q --state all --yes) ;;
	workers | sweep) args=() ;;
	esac
	check "$command: no database, exit 1" refuses 1 'no database at readpast.db .the command init .*--db ' readpast "$command" "${args[@]}"
done
check 'none was made' test ! -e readpast.db
check 'nothing to claim: exit 3' status 3 readpast claim q
check 'and the queue is there now' status 0 readpast stats q
check 'no such queue: exit 3' refuses 3 'no queue named nowhere' readpast stats nowhere
check 'list of no such queue: exit 3' refuses 3 'nowhere' readpast list nowhere
check 'no such job: exit 3' refuses 3 '99' readpast show 99
check 'no such database: exit 2, one line' refuses 2 'unknown database scheme' readpast --db nosql:x show 1

readpast enqueue q a b c d e --quiet
job=$(readpast claim q --lease 1h)
claim=$(claim_of "$job")
expected=id,queue,state,priority,attempt,max_attempts,claim,worker,run_at,created_at,claimed_at,lease_until,finished_at,unique_key,kind,headers,payload,last_error
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
check 'extend' status 0 readpast extend "$claim" --lease 2h
check 'complete' status 0 readpast complete "$claim"
check 'complete again: refused, exit 4' refuses 4 'no longer yours' readpast complete "$claim"
check 'complete what never was: exit 3' refuses 3 'no such job' readpast complete 999:1

a=$(claim_of "$(readpast claim q)")
check 'good ones are settled, bad ones get a line, the worst counts' \
	refuses 4 'no longer' readpast complete "$a" "$claim"
check 'the good one was' refuses 4 'no longer' readpast complete "$a"
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
check 'cancel of another kind: exit 3' refuses 3 'of kind x' readpast cancel "$(field id "$(readpast list kinds --json)")" --kind y
check 'purge wants --yes' refuses 2 '--yes' readpast purge kinds --state all
check 'purge wants a state' refuses 2 '--state' readpast purge kinds --yes
check 'purge wants one that can be purged' refuses 2 '--state' readpast purge kinds --state running --yes
check 'purge of another kind finds none' equal "$(readpast purge kinds --state all --kind y --yes)" '0 jobs purged'
check 'purge' equal "$(readpast purge kinds --state all --yes)" '1 jobs purged'

check 'queue set says what it changed' equal "$(readpast queue set q --lease 90s --max-payload 1MiB)" 'lease: 1m -> 90s
max-payload: 16MiB -> 1MiB'
check 'and when nothing did' equal "$(readpast queue set q --lease 90s)" 'queue q: nothing changed'
check 'queue set refuses nonsense' refuses 2 'lease' readpast queue set q --lease 0s
check 'queue list' grep -q '^q$' <(readpast queue list)
check 'pause' status 0 readpast pause q
check 'a paused queue hands out nothing' status 3 readpast claim q
check 'queue resume is resume' status 0 readpast queue resume q
readpast enqueue drop x --quiet
readpast claim drop >/dev/null
check 'queue drop wants --yes' refuses 2 '--yes' readpast queue drop drop
check 'queue drop is refused while jobs run: exit 4' refuses 4 'running' readpast queue drop drop --yes
readpast complete "$(claim_of "$(readpast list drop --json)")"
check 'queue drop' status 0 readpast queue drop drop --yes

check 'stats as JSON' equal "$(grep -oE '"[a-z_]+":' <<<"$(readpast stats q --json)" | tr -d '":' | paste -sd,)" \
	queue,paused,scheduled,ready,running,done,dead,cancelled,oldest_ready_ms,longest_running_ms,workers,done_per_s,failed_per_s
check 'sweep' equal "$(readpast sweep)" '0 due, 0 recovered, 0 dead, 0 dropped'
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
check 'a database with other tables: exit 1, and the way' refuses 1 'readpast init' readpast --db sqlite:theirs.db enqueue q x
check 'init puts ours beside them' status 0 readpast --db sqlite:theirs.db init
check 'and then it works' status 0 readpast --db sqlite:theirs.db enqueue q x
sqlite3 theirs.db "update readpast_meta set value = 1 where name = 'build'"
check 'tables of another build: exit 1' refuses 1 'another build.*new database' readpast --db sqlite:theirs.db enqueue q x
sqlite3 theirs.db "update readpast_meta set value = 99 where name = 'schema'"
check 'a newer schema: exit 1' refuses 1 'newer' readpast --db sqlite:theirs.db stats
check 'a directory is no database: exit 1' refuses 1 '.' readpast --db sqlite:. enqueue q x
check 'a place that is not there: exit 1' refuses 1 '.' readpast --db sqlite:no/where/x.db enqueue q x
check 'READPAST_DB' equal "$(READPAST_DB=sqlite:env.db readpast enqueue q x)" 1
check '--db goes before it' equal "$(READPAST_DB=sqlite:env.db readpast --db=sqlite:opt.db enqueue q x)" 1

check 'no command: the help, exit 2' status 2 readpast
check 'no such command: exit 2' refuses 2 'no such command' readpast nonsense
check 'no such queue command: exit 2' refuses 2 'no such command' readpast queue nonsense
check 'no such option: exit 2' refuses 2 'no such option' readpast stats --nonsense
check 'the database goes in front: exit 2' refuses 2 'stands before the command' readpast stats --db sqlite:other.db
for command in enqueue work claim complete fail release extend cancel retry purge list show \
	stats workers 'queue set' 'queue list' 'queue drop' pause resume sweep init check version help; do
	# shellcheck disable=SC2086
	check "$command --help" status 0 readpast $command --help
	check "$command is in the man page" grep -q "^\.It Cm .*${command%% *}" "$man"
done
check 'version' grep -qE '^readpast [0-9]' <(readpast version)
check 'standard output that is full: exit 1' equal "$(readpast help >/dev/full 2>/dev/null; echo $?)" 1
finish
