#!/usr/bin/env bash
# Test limits of queues and groups, rates and holds on the command line.
#
#   limits.sh READPAST URL
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
on_database "$2"
# The handlers run readpast.
PATH=$(dirname "$READPAST"):$PATH
export READPAST # for handlers

states() { # QUEUE: the payload and the state of each job, in the order of the list
	readpast list "$1" --json | jq -r '"\(.payload) \(.state)"' | paste -sd,
}
group() { # QUEUE GROUP: blocked, ready, running, limit, and whether the group is held
	readpast groups "$1" --json | jq -c "select(.group == \"$2\") |
		[.blocked, .ready, .running, .limit, .held_until != null]"
}
stats() {
	readpast stats "$1" --json | jq -c '[.ready, .blocked, .running]'
}
claim() { # QUEUE: claim a job, and print its claim
	claim_of "$(readpast claim "$1" --lease 1h)"
}
reason() {
	field reason "$(readpast why "$1" --json)"
}

# ---- settings ----

readpast queue set q >/dev/null
check 'queue set prints the changes of limits' equal \
	"$(readpast queue set q --group-limit 2 --group-on-failure pass --rate 90/60s)" \
	'group-limit: none -> 2
group-on-failure: block -> pass
rate: none -> 90/1m'
check 'queue list shows them' grep -qx '  rate             90/1m' <(readpast queue list q)
check 'the JSON has them' equal \
	"$(readpast queue list q --json | jq -c '[.group_limit, .group_on_failure, .rate, .held_until]')" \
	'[2,"pass","90/1m",null]'
check 'an unchanged setting is not printed' equal "$(readpast queue set q --rate 90/1m)" \
	'queue q: nothing changed'
readpast queue set q --group-limit none --group-on-failure block --rate none >/dev/null
check 'none ends them' equal \
	"$(readpast queue list q --json | jq -c '[.group_limit, .group_on_failure, .rate]')" \
	'[null,"block",null]'
for option in limit group-limit; do
	for bad in 0 -1 100001 x ''; do
		check "--$option '$bad' is refused" refuses 2 'expected 1 to 100000, or none' \
			readpast queue set q "--$option=$bad"
	done
done
for bad in 0/1m 5 5/ /1m 1/0s 1000001/1m -1/1m 1/1 '1/1m/1m' ''; do
	check "--rate '$bad' is refused" refuses 2 'expected 1 to 1000000 jobs in a duration' \
		readpast queue set q "--rate=$bad"
done
check 'a policy that does not exist is refused' refuses 2 'expected block or pass' \
	readpast queue set q --group-on-failure stop

# ---- one at a time ----

readpast queue set g --group-limit 1 --backoff 0s >/dev/null
for n in 1 2 3; do readpast enqueue g "a$n" --group a --quiet; done
readpast enqueue g b1 --group b --quiet
readpast enqueue g none --quiet
check 'the first job of each group is ready, the others are blocked' equal "$(states g)" \
	'a1 ready,b1 ready,none ready,a2 blocked,a3 blocked'
check 'stats counts them' equal "$(stats g)" '[3,2,0]'
check 'the table of stats counts them' grep -qE '^g +0 +3 +2 +0 ' <(readpast stats g)
check 'list --state blocked lists the blocked jobs' equal \
	"$(readpast list g --state blocked --json | jq -r .payload | paste -sd,)" a2,a3
check 'list --state ready lists the others' equal \
	"$(readpast list g --state ready --json | jq -r .payload | paste -sd,)" a1,b1,none
check 'a filter finds blocked jobs' equal \
	"$(readpast list --state blocked --older 0s --json | jq -r .payload | paste -sd,)" a2,a3
check 'show prints the state' grep -qx 'state         blocked' \
	<(readpast show "$(readpast list g --state blocked --json | jq .id | head -n 1)")
check 'groups shows the groups' equal "$(group g a) $(group g b)" '[2,1,0,1,false] [0,1,0,1,false]'
check 'groups --blocked shows only groups whose jobs wait' equal \
	"$(readpast groups g --blocked --json | jq -r .group)" a
check 'groups --after goes on behind a name' equal "$(readpast groups g --after a --json | jq -r .group)" b
check 'groups -n ends the list' equal "$(readpast groups g -n 1 --json | jq -r .group)" a
check 'groups prints a table' grep -qE '^ +2 +1 +0 +1  - +a$' <(readpast groups g)
third=$(readpast list g --state blocked --json | jq .id | tail -n 1)
first=$(claim g)
check 'why says for whom a job waits' grep -qE \
	"waits behind job ${first%:*} of group a, running since .* ago\)[^;]*; 2nd of 2\." <(readpast why "$third")
check 'the JSON of why has the reason and the place' equal \
	"$(readpast why "$third" --json | jq -c '[.reason, .group_limit, .group_busy, .group_ahead, .group_waiting, .group_next.state, (.group_next.since | type)]')" \
	'["group",1,1,1,2,"running","string"]'
readpast complete "$first"
check 'the end of a job lets the next one of its group into the line' equal "$(states g)" \
	'b1 ready,none ready,a2 ready,a3 blocked'
readpast work g -j4 --drain --quiet --output-sync -- sh -c 'cat; echo' >ran
last=$(readpast enqueue held x y z --group a | tail -n 1)
readpast hold held --group a --for 1h
check 'why says the place of a job in a held group, too' grep -qE \
	'; 3rd of 3 of its group\. Group a is held until' <(readpast why "$last")
check '... and so does its JSON' equal \
	"$(readpast why "$last" --json | jq -c '[.reason, .ahead, .group_ahead, .group_waiting]')" '["held",null,2,3]'
check 'a worker runs the rest, group by group' equal "$(grep a ran | paste -sd,)" a2,a3

readpast queue set fails --group-limit 1 --backoff 1h >/dev/null
readpast enqueue fails x y --group a --quiet
readpast fail "$(claim fails)" --error no
check 'a group waits for the retry of its job' equal "$(states fails)" 'y blocked,x scheduled'
check 'why says so' grep -q 'which waits for its next attempt until' \
	<(readpast why "$(readpast list fails --state blocked --json | jq .id)")
readpast queue set passes --group-limit 1 --backoff 1h --group-on-failure pass >/dev/null
readpast enqueue passes x y --group a --quiet
readpast fail "$(claim passes)" --error no
check 'or goes on' equal "$(states passes)" 'y ready,x scheduled'

# ---- commands that change jobs ----

readpast queue set c --group-limit 1 >/dev/null
readpast enqueue c 1 2 3 4 5 6 --group a --quiet
id=$(readpast list c --json | jq -r 'select(.payload == "2") | .id')
readpast cancel "$id" --json >/dev/null
check 'a blocked job can be cancelled' equal "$(states c)" \
	'1 ready,3 blocked,4 blocked,5 blocked,6 blocked'
id=$(readpast list c --json | jq -r 'select(.payload == "6") | .id')
readpast change "$id" --priority 1
check 'a blocked job can be changed' equal "$(readpast show "$id" --json | jq -c '[.state, .priority]')" \
	'["blocked",1]'
readpast complete "$(claim c)"
check 'the order of a group is that of the priority' equal "$(states c)" \
	'6 ready,3 blocked,4 blocked,5 blocked'
check 'purge --state blocked deletes only the blocked jobs' equal \
	"$(readpast purge c --state blocked --yes; states c)" '3 jobs purged
6 ready'
readpast enqueue c 7 --group a --unique k --quiet
readpast enqueue c 8 --group a --unique k --replace --quiet
check 'a blocked job can be replaced' equal "$(states c)" '6 ready,8 blocked'
check 'cancel --state blocked cancels only the blocked jobs' equal \
	"$(readpast cancel --queue c --state blocked; states c)" '1 job cancelled
6 ready'

# ---- the limit of a queue, and its rate ----

readpast queue set l --limit 1 >/dev/null
readpast enqueue l x y --quiet
claim=$(claim l)
check 'the jobs of a full queue are blocked' equal "$(states l) $(stats l)" 'x running,y blocked [0,1,1]'
second=$(readpast list l --state blocked --json | jq .id)
check 'no job of a full queue is ready' equal "$(readpast list l --state ready --json)" ''
check 'why gives the limit as the reason' grep -q 'runs at most 1 job at once, and 1 runs now' \
	<(readpast why "$second")
readpast complete "$claim"
check 'the jobs are ready when there is room' equal "$(states l)" 'y ready'
readpast queue set rate --rate 2/1h >/dev/null
readpast enqueue rate x y z --quiet
claim rate >/dev/null
claim rate >/dev/null
check 'a claim gets no job after the rate is used up: exit 3' status 3 readpast claim rate
check 'the other jobs are blocked' equal "$(stats rate)" '[0,1,2]'
check 'why says when the next job may start' grep -q \
	'starts at most 2 jobs in 1h; the next may start in 5[89]m' \
	<(readpast why "$(readpast list rate --state blocked --json | jq .id)")
check 'a list of two queues finds it' equal "$(readpast list --state blocked --older 0s --json |
	jq -r 'select(.queue == "rate") | .payload')" z
readpast queue set rate --rate none >/dev/null
check 'without the rate the job is ready' equal "$(stats rate)" '[1,0,2]'
readpast queue set drain --rate 2/1s >/dev/null
seq 5 | readpast enqueue drain --quiet
check 'work --drain waits for the jobs that a rate holds back' equal \
	"$(readpast work drain -j3 --drain -- true 2>/dev/null)" '5 done, 0 failed, 0 dead, 0 released'

if [[ $READPAST_DB == sqlite:* ]]; then
	lowered() { sql "select group_lowered from readpast_queue where name = 'lower'"; }
	set_limit() { readpast queue set lower --group-limit "$1" >/dev/null; }
	set_limit 3
	set_limit 2
	check 'a lower limit of a queue without slots does not make claims count slots' equal "$(lowered)" 0
	readpast enqueue lower x --group g --quiet
	set_limit 1
	check 'a lower limit of a queue with slots does' equal "$(lowered)" 1
	set_limit none
	check 'without a limit, claims do not count slots' equal "$(lowered)" 0
fi

# ---- holds ----

for bad in '' '--for 0' '--for -5s' '--for 2020-01-01' '--for 1s --clear'; do
	# shellcheck disable=SC2086
	check "hold $bad is refused" status 2 readpast hold q $bad
done
check 'a hold of an unknown queue exits with 3' refuses 3 'no queue named nosuch' \
	readpast hold nosuch --for 1s
check 'a group name with a control character is refused' refuses 2 'control character' \
	readpast hold q --group $'a\tb' --for 1s
check 'a hold of an unknown group is no error' status 0 readpast hold q --group unknown --for 1h
check 'a held group without jobs is listed' equal "$(group q unknown)" '[0,0,0,null,true]'
check 'groups of an unknown queue exits with 3' refuses 3 'no queue named' readpast groups nosuch

readpast enqueue h a1 a2 --group a --quiet 2>/dev/null
readpast enqueue h b1 --group b --quiet
check 'hold --json prints what it did' equal "$(readpast hold h --group a --for 1h --json)" \
	'{"queue":"h","group":"a","result":"held"}'
check 'no job of a held group starts' equal "$(readpast work h --drain --quiet -- cat)" b1
check 'the jobs of a held group are blocked' equal "$(states h) $(group h a)" \
	'a1 blocked,a2 blocked [2,0,0,null,true]'
id=$(readpast list h --json | jq .id | head -n 1)
check 'why names the hold, and how to end it' grep -qE \
	'Group a is held until .*; readpast hold h --group a --clear ends the hold' <(readpast why "$id")
readpast hold h --group a --for 100ms
has_room() {
	readpast why "$id" | grep -q 'is blocked.*Its group has room: the next sweep'
}
check 'after the end of the hold why says who lets the jobs start' eventually has_room
readpast pause h
check 'why promises no sweep while the queue is paused' \
	equal "$(readpast why "$id" | grep -c 'next sweep')" 0
readpast resume h
readpast hold h --group a --for 1h
readpast queue set h --max-attempts 9 >/dev/null
readpast enqueue h a3 --group a --quiet
check 'a job that is enqueued into a held group does not start' equal \
	"$(readpast work h --drain --quiet -- cat)" ''
readpast hold h --group a --clear
check 'after --clear the jobs run in their order' equal \
	"$(readpast work h --drain --quiet -- sh -c 'cat; echo' | paste -sd,)" a1,a2,a3

readpast enqueue h x --quiet
readpast hold h --for 1h
readpast queue set retry --group-limit 1 >/dev/null
readpast enqueue retry x --group x --quiet
readpast fail "$(claim retry)" --retry-in 1h --error no
readpast enqueue retry y --group y --quiet
readpast hold retry --group y --for 1h >/dev/null
check 'work --drain waits neither for the end of a hold nor for a retry of another group' \
	timeout 20 readpast work retry --drain --quiet -- cat
check 'a held queue starts no job' equal "$(readpast work h --drain --quiet -- cat)" ''
check 'its jobs are blocked' equal "$(states h)" 'x blocked'
seq 2500 | readpast enqueue long --group x --quiet
id=$(readpast enqueue long last --group y)
readpast hold long --group x --for 1h >/dev/null
check 'claim gets a job behind many jobs of a held group' equal "$(readpast claim long | jq -r .id)" "$id"
check 'queue list shows the hold' grep -qE '^  held +until ' <(readpast queue list h)
check 'the JSON of a queue has the end of the hold' grep -q '"held_until":"2' <(readpast queue list h --json)
check 'the reason of why is the hold' grep -q 'Queue h is held until' <(readpast why "$(readpast list h --json | jq .id)")
check 'and so it is in the JSON, even if no worker serves the queue' equal \
	"$(readpast why "$(readpast list h --json | jq .id)" --json | jq -r .reason)" held
readpast hold h --for 500ms
"$READPAST" work h --quiet -- cat >ran &
check 'a second hold replaces the first, and a worker goes on when it ends' \
	eventually grep -q x ran
kill $!
wait

# ---- several at once ----

readpast queue set full --limit 1 --group-limit 3 >/dev/null
readpast enqueue full 1 2 --group a --quiet
claim full >claimed
check 'why names the limit of the queue if the job has a slot of its group' equal \
	"$(reason "$(readpast list full --state blocked --json | jq .id)")" limit

readpast queue set removed --group-limit 1 >/dev/null
readpast enqueue removed 1 --group a --quiet
readpast fail "$(claim removed)" --error x --retry-in 1h
readpast queue set removed --group-limit none >/dev/null
check 'a slot of a removed limit is not listed' equal "$(readpast groups removed --json)" ''
readpast hold removed --group a --for 2h
readpast enqueue removed 2 --group a --quiet
id=$(readpast list removed --state blocked --json | jq .id)
check 'why does not name the job that has such a slot' \
	equal "$(readpast why "$id" --json | jq -c '[.reason, .group_next]')" '["held",null]'
check 'work --drain does not wait for such a slot' \
	timeout 20 readpast work removed --drain --quiet -- cat

readpast queue set retries --group-limit 1 >/dev/null
readpast enqueue retries 1 2 --group a --quiet
readpast fail "$(claim retries)" --error x --retry-in 1h --hold group --for 2h
check 'work --drain does not wait for a retry in a group that is held' \
	timeout 20 readpast work retries --drain --quiet -- cat

readpast queue set due --group-limit 1 >/dev/null
readpast enqueue due low --group a --delay 1ms --quiet
readpast enqueue due high --group a --delay 2ms --priority 5 --quiet
check 'of two jobs that become due together, the more urgent one runs first' equal \
	"$(readpast sweep >/dev/null; readpast work due --drain --quiet -- sh -c 'cat; echo' | paste -sd,)" \
	high,low

readpast queue set front >/dev/null
readpast enqueue front 1 2 3 --group a --quiet
readpast release "$(claim front)"
readpast hold front --group a --for 1h
readpast hold front --group a --clear
readpast sweep >/dev/null
check 'a released job is still the first of its group after a hold' equal \
	"$(states front)" '1 ready,2 ready,3 ready'
readpast release "$(claim front)"
readpast queue set front --group-limit 1 >/dev/null
readpast sweep >/dev/null
check 'and after the queue got its first group limit' equal \
	"$(states front)" '1 ready,2 blocked,3 blocked'

readpast queue set nolimit >/dev/null
readpast enqueue nolimit 1 --quiet
readpast enqueue nolimit 2 --group a --unique k --quiet
readpast enqueue nolimit 3 --quiet
readpast enqueue nolimit 4 --group b --unique k --replace --quiet
check 'without a limit a job keeps its place when its group is replaced' equal \
	"$(states nolimit)" '1 ready,4 ready,3 ready'

# ---- in a handler ----

readpast queue set api --group-limit 1 >/dev/null
readpast enqueue api a1 a2 --group a --quiet
readpast enqueue api b1 --group b --quiet
# shellcheck disable=SC2016
readpast work api --drain --quiet -- sh -c '
	read -r job
	[ "$job" = b1 ] || exec "$READPAST" release "$READPAST_CLAIM" --hold group --for 1h
	echo "$job"' >ran
check 'a handler that holds its group lets other groups run' equal "$(cat ran)" b1
check 'its own group waits' equal "$(states api) $(group api a)" \
	'a1 blocked,a2 blocked [2,0,0,1,true]'
check 'the attempt did not count' equal "$(readpast show "$(readpast list api --json | jq .id | head -n 1)" --json | jq .attempt)" 0
readpast hold api --group a --clear
claim=$(claim api)
readpast fail "$claim" --error 'come back later' --retry-in 0 --hold queue --for 1h
check 'a failure can hold the queue' equal "$(readpast queue list api --json | jq '.held_until != null')" true
check 'a verdict that comes too late holds nothing' equal \
	"$(readpast hold api --clear
		readpast release "$claim" --hold queue --for 1h 2>/dev/null
		readpast queue list api --json | jq .held_until)" null
for bad in '--hold group' '--for 1s' '--hold all --for 1s' '--hold group --for 0s'; do
	# shellcheck disable=SC2086
	check "release $bad is refused" status 2 readpast release "$claim" $bad
done

# The held jobs are in the ready line, and each of them has to be taken out of it.
seq 20000 | readpast enqueue backlog --group large --quiet
readpast enqueue backlog first --group small --quiet
readpast hold backlog --group large --for 1h
check 'a worker soon finds the job of another group behind many held jobs' equal \
	"$(timeout 25 "$READPAST" work backlog --max-jobs 1 --quiet -- cat)" first

# ---- a copy ----

readpast queue set from --group-limit 1 --rate 7/1h >/dev/null
readpast enqueue from 1 2 3 --group a --quiet
readpast complete "$(claim from)"
readpast hold from --group b --for 1h
readpast copy "$READPAST_DB" sqlite:copied.db from >/dev/null
readpast --db sqlite:copied.db resume from
check 'a copy has the settings and the jobs, but no hold' equal \
	"$(READPAST_DB=sqlite:copied.db
		export READPAST_DB
		readpast queue list from --json | jq -c '[.group_limit, .rate]'
		readpast groups from --json | jq -r .group
		readpast work from --drain --quiet -- sh -c 'cat; echo')" '[1,"7/1h"]
a
2
3'
finish
