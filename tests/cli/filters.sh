#!/usr/bin/env bash
# Test filters, which select the jobs for `list`, `show`, `why`, `cancel`, `retry`,
# `purge` and `change`.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
on_database "$2"

ids() {
	sed -nE 's/^\{"id":([0-9]+),.*/\1/p' | paste -sd' '
}
listed() { # OPTION...: print the ids of the listed jobs
	readpast list --json "$@" | ids
}
state_of() {
	field state "$(readpast show "$1" --json)"
}

# After these commands job 1 is running, 2 waits for its retry, 3 is dead, 4 and 5 are
# ready, 6 is in another queue, 7 is scheduled, and 8 is cancelled.
readpast enqueue mail one two three --kind send --quiet
readpast claim mail -n 3 --lease 1h >claims
mapfile -t claims < <(claims_of <claims)
readpast fail "${claims[1]}" --error 'connection timed out' --retry-in 1h
readpast fail "${claims[2]}" --error 'timed out: for good' --for-good
readpast enqueue mail four --unique k4 --kind print --quiet
readpast enqueue mail five --quiet
readpast enqueue 'a%b' six --unique k4 --kind send --quiet
readpast enqueue mail seven --delay 1d --kind send --quiet
readpast enqueue mail eight --kind print --unique k8 --quiet
readpast cancel 8

check 'list without a queue lists the live jobs of all queues' equal "$(listed)" '1 4 5 6 2 7'
check 'list without a queue prints the names of queues' grep -Eq '^ +6 a%b +ready ' <(readpast list)
check 'list of one queue does not print its name' grep -Eq '^ +4 ready ' <(readpast list mail)
check '--queue does the same as the argument' equal "$(listed --queue mail)" '1 4 5 2 7'
check '--queue and the argument together are refused' refuses 2 'one queue' readpast list mail --queue mail
check 'a missing queue exits with 3' refuses 3 'nowhere' readpast list --queue nowhere --kind x
check '--kind selects jobs of a kind' equal "$(listed --kind send)" '1 6 2 7'
check '--kind and a queue select jobs of a kind in the queue' equal "$(listed mail --kind send)" '1 2 7'
check '--key selects jobs with a unique key' equal "$(listed --key k4)" '4 6'
check '--key finds a kept job, too' equal "$(listed --key k8 --state cancelled)" 8
check '--error finds a part of the error, also of dead jobs' equal "$(listed --error 'timed out')" '2 3'
check '--error takes % literally' equal "$(listed --error 'timed%out')" ''
check '--error and --state select jobs in that state' equal "$(listed --error 'timed out' --state dead)" 3
check '--state all selects live and kept jobs' equal "$(listed --state all)" '1 4 5 6 2 7 3 8'
check '--older 1d selects no job, because all are younger' equal "$(listed --older 1d)" ''
check '--older 0s selects all live jobs' equal "$(listed --older 0s)" '1 4 5 6 2 7'
check 'values are bound, and not pasted into SQL' equal "$(listed --kind "x' or '1'='1")" ''
check '--limit limits the list' equal "$(listed --kind send --limit 2)" '1 6'
check 'an unknown state exits with 2' refuses 2 'scheduled, ready, running' readpast list --state nope

check 'show takes a filter' equal "$(readpast show --key k4 --json | ids)" '4 6'
check 'why takes a filter' equal "$(readpast why --kind print --json | ids)" '4 8'
check 'ids and a filter together are refused' refuses 2 'either' readpast show 1 --kind x
check 'show without ids and without a filter is refused' refuses 2 'which jobs' readpast show
check 'cancel does not accept a state alone as a filter' refuses 2 'ready alone would match jobs of all queues: add --queue' \
	readpast cancel --state ready
check 'show does not accept a state alone as a filter' refuses 2 'alone would match' readpast show --state ready
check 'purge does not accept a state alone as a filter' refuses 2 'alone would match' readpast purge --state dead --yes
check 'a filter that no job matches exits with 3' refuses 3 'no job' readpast show --kind nothing

check 'a dry run prints how many jobs match, and three of them' equal "$(
	readpast cancel --kind send --dry-run | sed -E 's/ +/ /g; s/^ //')" '4 jobs would be cancelled
ID QUEUE STATE PRIO ATTEMPT PAYLOAD
1 mail running 100 1/3 one
6 a%b ready 100 0/3 six
2 mail scheduled 100 1/3 two'
check 'a dry run prints JSON' equal "$(readpast cancel --kind send --dry-run --json | head -n 1)" \
	'{"would_be":"cancelled","jobs":4}'
check 'a dry run changes nothing' equal "$(listed --kind send)" '1 6 2 7'
check 'a dry run takes ids' equal "$(readpast retry 3 4 --dry-run 2>&1 | head -n 2)" 'readpast: skipped job 4: it is ready; only dead and cancelled jobs can be retried
1 job would be ready again'
check 'a dry run of show prints how many jobs it would show' equal "$(readpast show --queue mail --dry-run | head -n 1)" '7 jobs would be shown'

check 'cancel takes a filter' equal "$(readpast cancel --kind send --state scheduled)" '2 jobs cancelled'
check 'cancel has cancelled only the jobs of the filter' equal "$(listed --kind send)" '1 6'
check 'cancel with a filter cancels a running job' status 0 readpast cancel --queue mail --kind send --older 0s
check "the verdict of this job is refused" refuses 4 'cancelled' readpast complete "${claims[0]}"
check 'cancel of no job prints zero' equal "$(readpast cancel --kind nothing --json)" '{"result":"cancelled","jobs":0,"taken":0}'

check 'retry with a filter makes dead jobs ready' equal "$(readpast retry --queue mail)" '1 job ready again'
check 'retry leaves cancelled jobs as they are' equal "$(state_of 8)" cancelled
check 'retry --state cancelled makes cancelled jobs ready' equal "$(readpast retry --key k8 --state cancelled)" '1 job ready again'
readpast cancel 8 4
readpast enqueue mail again --unique k4 --quiet
check 'a job whose key is taken is not retried: exit 4' refuses 4 '1 job not retried' readpast retry --kind print --state cancelled
check 'the other jobs are retried' equal "$(state_of 8)" ready

check 'purge refuses a filter without a state' refuses 2 '--state' readpast purge --kind send --yes
check 'purge refuses to run without --yes' refuses 2 '--yes' readpast purge --kind send --state all
check 'purge of running jobs is refused' refuses 2 '--state' readpast purge --kind send --state running --yes
check 'a dry run of purge needs no --yes' equal "$(readpast purge --kind send --state all --older 0s --dry-run | head -n 1)" '5 jobs would be purged'
check 'purge takes a filter' equal "$(readpast purge --kind send --state cancelled --older 0s --yes)" '3 jobs purged'
check 'purge has deleted only the jobs of the filter' equal "$(listed --state all)" '5 3 9 8 6 4'
check 'purge takes a queue' equal "$(readpast purge mail --state all --yes)" '5 jobs purged'

mapfile -t order < <(readpast enqueue order a b c)
mapfile -t claim < <(readpast claim order -n 3 | claims_of)
for i in 1 0 2; do
	readpast fail "${claim[i]}" --error x --for-good
done
readpast retry --dead order >/dev/null
check 'retried jobs are in line in the order in which they died' \
	equal "$(listed order)" "${order[1]} ${order[0]} ${order[2]}"
for i in 1 0 2; do
	readpast cancel "${order[i]}"
done
readpast retry --queue order --state cancelled >/dev/null
check 'cancelled jobs that are retried are in line in the order in which they were enqueued' equal "$(listed order)" "${order[*]}"
readpast cancel "${order[0]}"
check 'a second cancel of a job is refused' refuses 4 'is cancelled: only scheduled, ready, blocked and running jobs' \
	readpast cancel "${order[0]}"
readpast purge order --state all --yes >/dev/null

READPAST_HISTORY=$here/history readpast enqueue h a b c --kind x --quiet
check 'the history has each retried job' equal "$(
	readpast cancel --kind x --history history >/dev/null
	grep -c '"event":"cancelled"' history)" 3

# The queue `from` has three jobs. The first has the same unique key as a job of the
# queue `to`. The second has a kind. The third has neither a key nor a kind.
readpast enqueue from a --unique k --quiet
readpast enqueue from b --kind sort --quiet
readpast enqueue from c --quiet
readpast enqueue to x --unique k --quiet
mapfile -t from < <(readpast list from --json | sed -nE 's/^\{"id":([0-9]+),.*/\1/p')
check 'change takes an id and --priority' status 0 readpast change "${from[2]}" --priority 3
check 'the job with the smaller priority is now the first' equal "$(listed from)" "${from[2]} ${from[0]} ${from[1]}"
check 'change without a change is refused' refuses 2 'nothing to change: give' readpast change 1
check 'change without jobs is refused' refuses 2 'which jobs' readpast change --priority 3
check '--delay and --at together are refused' refuses 2 'either --delay or --at' readpast change 1 --delay 1s --at @5000000000
check 'a dry run of change prints how many jobs it would change' equal "$(readpast change --queue from --priority 4 --dry-run | head -n 1)" '3 jobs would be changed'
check 'the dry run has changed nothing' equal "$(listed from)" "${from[2]} ${from[0]} ${from[1]}"
check 'change takes a filter' equal "$(readpast change --queue from --kind sort --delay 1h)" '1 job changed'
check 'the delayed job is scheduled' equal "$(state_of "${from[1]}")" scheduled
check 'a change to a missing queue exits with 3' refuses 3 'no queue nowhere in .* \(create it with readpast queue set' readpast change --queue from --to nowhere
check 'a dry run of a change to a missing queue exits with 3' refuses 3 'no queue nowhere in .* \(create it with readpast queue set' readpast change "${from[0]}" --to nowhere --dry-run
check 'a change to a queue in which the key is taken exits with 4' refuses 4 'has its unique key' readpast change "${from[0]}" --queue to
check 'a change of many jobs changes those that it can: exit 4' refuses 4 '1 job not changed' readpast change --queue from --to to
check 'one job was not changed' equal "$(listed from)" "${from[0]}"
check 'change prints JSON' equal "$(readpast change --queue from --max-attempts 7 --json)" '{"result":"changed","jobs":1,"taken":0,"too_large":0,"too_late":0}'
mapfile -t moved < <(readpast enqueue move a b c)
readpast queue set moved >/dev/null
check 'jobs that are moved by a filter keep their order' \
	equal "$(readpast change --queue move --to moved >/dev/null; listed moved)" "${moved[*]}"
late=$(readpast enqueue late x --expire 1h)
readpast enqueue late y --quiet
check 'a change to a time after the expiry of a job exits with 2' refuses 2 "job $late is not changed: it would expire before it is due" \
	readpast change "$late" --delay 2h
check 'a change of many jobs leaves out the job that would expire' refuses 4 '1 job not changed: it would expire before the new time' \
	readpast change --queue late --delay 2h
check 'the other job was changed' equal "$(readpast list late --json | jq -r .state | paste -sd' ')" 'ready scheduled'
readpast claim from --lease 1h >/dev/null
check 'change with a filter does not change a running job' equal "$(readpast change --queue from --priority 1)" \
	'0 jobs changed (no scheduled, ready or blocked job matches)'
check 'a change of a running job by its id exits with 4' refuses 4 "job ${from[0]} is running: only scheduled, ready and blocked jobs can be changed" \
	readpast change "${from[0]}" --priority 1
check 'the history has each change' equal "$(
	readpast change --queue to --priority 9 --history changes >/dev/null
	grep -c '"event":"changed"' changes)" 3
readpast queue drop to --yes

# Group a has a dead, a ready and a blocked job. The jobs b1 and c1 are not in group a.
readpast queue set grouped --group-limit 1
readpast enqueue grouped a1 a2 a3 --group a --quiet
readpast claim grouped >claims
readpast fail "$(claims_of <claims)" --error broken --for-good
readpast enqueue grouped b1 --group b --quiet
readpast enqueue grouped c1 --quiet
payloads() { # OPTION...: print the payloads of the listed jobs
	readpast list --json "$@" | jq -r .payload | paste -sd' '
}
check '--group selects live jobs of the group' equal "$(payloads --group a)" 'a2 a3'
check '--group and --state select kept jobs, too' equal "$(payloads grouped --group a --state all)" 'a2 a3 a1'
readpast enqueue grouped a4 --group a --priority 5 --quiet
check 'blocked jobs are listed in the order in which they will run' equal "$(payloads --group a)" 'a2 a4 a3'
check 'a list of the queue has the same order' equal "$(readpast list grouped --state blocked --json | jq -r .payload | paste -sd' ')" 'a4 a3'
readpast enqueue grouped a5 --group a --delay 1d --quiet
check 'a search finds scheduled jobs last' equal "$(payloads --group a)" 'a2 a4 a3 a5'
readpast enqueue grouped b2 --group b --priority 5 --quiet
check 'a list of the queue begins with the jobs of the first group' equal "$(payloads grouped)" 'a2 b1 c1 a4 a3 b2 a5'
for all in '' --all; do
	check "a search ${all:-of some jobs} has the order of a list of the queue" equal \
		"$(payloads grouped --older 0s $all)" "$(payloads grouped)"
done
check '--group of no job selects none' equal "$(payloads --group aa)" ''
check 'cancel takes the filter' equal "$(readpast cancel --group b)" '2 jobs cancelled'

# Make more jobs than `list` examines without --all. Only the last job has the kind that
# the filter selects.
seq 9000 | readpast enqueue many --quiet
seq 1500 | readpast enqueue many --kind some --quiet
readpast enqueue many last --kind rare --unique rare --priority 200 --quiet
check 'list prints that it has not examined all jobs' equal "$(readpast list many --kind rare 2>&1)" \
	"readpast: only the first 10000 jobs of each state were searched; --all searches all jobs"
check 'list --all examines all jobs' equal "$(field payload "$(readpast list many --kind rare --all --json 2>&1)")" last
check '--key finds a job among any number of jobs' equal "$(field payload "$(readpast list --key rare --json 2>&1)")" last
check 'cancel examines all jobs without --all' equal "$(readpast cancel --kind rare)" '1 job cancelled'
check 'cancel cancels many jobs' equal "$(readpast cancel --kind some)" '1500 jobs cancelled'
check 'cancel cancels the other jobs' equal "$(readpast cancel --queue many)" '9000 jobs cancelled'
newest=$(readpast enqueue newer x)
readpast cancel "$newest"
check 'the newest kept job is listed first, although an older queue keeps more than are examined' \
	equal "$(listed --state cancelled --limit 1)" "$newest"
check 'purge deletes many jobs' equal "$(readpast purge --queue many --state all --older 0s --yes)" '10501 jobs purged'
finish
