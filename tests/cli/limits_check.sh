#!/usr/bin/env bash
# Test that the command `check` verifies the promises P10, P11, P12 and P13, which are
# about limits. The histories are written by hand. Some of them break a promise. The
# others break no promise, but are similar to those that do.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

# The events of a history. Times are in milliseconds. A call takes 1 ms, and a lease lasts
# for 1000 ms.
event() { # AT EVENT FIELDS
	echo "{\"at\":${1}000,\"client\":\"a:1\",\"event\":\"$2\",$3}"
}
limits() { # AT FIELDS: the queue's limits from now on
	event "$1" limits "\"queue\":\"q\",\"asked\":$(($1 - 1))000${2:+,$2}"
}
added() { # AT ID [GROUP [FIELDS]]
	event "$1" enqueued "\"id\":$2,\"queue\":\"q\",\"outcome\":\"added\",\"asked\":$(($1 - 1))000${3:+,\"group\":\"$3\"}${4:+,$4}"
}
claim() { # AT ID [GROUP [ATTEMPT [FIELDS]]]: the claim's number is its time
	event "$1" claimed "\"id\":$2,\"queue\":\"q\",\"claim\":$(($1 - 1))500,\"attempt\":${4:-1},\"max_attempts\":3,\"lease_ms\":1000,\"asked\":$(($1 - 1))000${3:+,\"group\":\"$3\"}${5:+,$5}"
}
verdict() { # AT ID CLAIMED_AT [VERDICT [RESULT]]
	event "$(($1 - 1))" settling "\"id\":$2,\"claim\":$(($3 - 1))500,\"verdict\":\"${4:-done}\""
	event "$1" settled "\"id\":$2,\"claim\":$(($3 - 1))500,\"verdict\":\"${4:-done}\",\"result\":\"${5:-ok}\",\"asked\":$(($1 - 1))000,\"lease_ms\":1000"
}
says() { # STATUS PATTERN LINES...: what `check` does with a history of these lines
	local expected=$1 pattern=$2
	shift 2
	printf '%s\n' "$@" | shuf >events
	readpast check events >out 2>&1
	equal $? "$expected" && tail -n 1 out | grep -qE "$pattern" && return
	cat out
	return 1
}

one=$(limits 5 '"limit":1')
check 'without limits P10 to P13 are not examined' says 0 'P6 ok$' "$(claim 10 1)" "$(claim 20 2)"
check 'a queue at its limit is no violation' says 0 'P6 ok, P10 ok$' "$one" "$(claim 10 1)" "$(verdict 15 1 10)" "$(claim 20 2)"
check 'two jobs at once with the limit 1 break P10' says 1 'P10 BROKEN \(1\)$' "$one" "$(claim 10 1)" "$(verdict 30 1 10)" "$(claim 20 2)"
check 'the claim that is one too many is named' grep -qx \
	'P10 job 2: claim 19500 was given while 1 other jobs of queue q ran, and the limit is 1' out
check 'a claim without a verdict counts until its lease is over' says 1 'P10 BROKEN' "$one" "$(claim 10 1)" "$(claim 990 2)"
check '... and not longer' says 0 'P10 ok' "$one" "$(claim 10 1)" "$(claim 1010 2)"
check 'an extended lease counts' says 1 'P10 BROKEN' "$one" "$(claim 10 1)" "$(verdict 500 1 10 extend)" "$(claim 1200 2)"
check 'an extension that was answered too late is not sure' says 0 'P10 ok' "$one" "$(claim 10 1)" "$(verdict 1100 1 10 extend)" "$(claim 1200 2)"
check 'a verdict that was sent ends the time that is sure' says 0 'P10 ok' "$one" "$(claim 10 1)" "$(verdict 15 1 10 | head -n 1)" "$(claim 20 2)"
check 'a verdict that was refused shows that nothing is sure' says 0 'P10 ok' "$one" "$(claim 10 1)" "$(verdict 30 1 10 'done' gone)" "$(claim 20 2)"
check 'a cancelled job may have ended at any time' says 0 'P10 ok' "$one" "$(claim 10 1)" "$(event 30 cancelled '"id":1')" "$(claim 20 2)"
check 'claims that were under way at the same time may be one after the other' says 0 'P10 ok' "$one" \
	"$(claim 10 1)" "$(verdict 12 1 10)" "$(claim 12 2 | sed 's/"asked":11000/"asked":9000/')"
check 'two jobs of a queue may run with the limit 2' says 0 'P10 ok' "$(limits 5 '"limit":2')" "$(claim 10 1)" "$(claim 20 2)"
check 'a third job breaks P10' says 1 'P10 BROKEN \(1\)' "$(limits 5 '"limit":2')" "$(claim 10 1)" "$(claim 20 2)" "$(claim 30 3)"
check 'another queue has limits of its own' says 0 'P10 ok' "$one" "$(claim 10 1)" "$(claim 20 2 | sed 's/"queue":"q"/"queue":"r"/')"
check 'a limit that is lowered ends no job' says 0 'P10 ok' "$(limits 5 '"limit":2')" "$(claim 10 1)" "$(claim 20 2)" "$(limits 25 '"limit":1')"
check '... but holds for the claims after it' says 1 'P10 BROKEN \(1\)' "$(limits 5 '"limit":2')" "$(limits 8 '"limit":1')" "$(claim 10 1)" "$(claim 20 2)"
check 'a claim while the limit was changed may have seen the old one' says 0 'P10 ok' "$(limits 5 '"limit":2')" "$(claim 10 1)" "$(claim 20 2)" "$(limits 20 '"limit":1')"
check 'no limit again is no limit' says 0 'P10 ok' "$one" "$(limits 8 '"limit":0')" "$(claim 10 1)" "$(claim 20 2)"

group=$(limits 5 '"group_limit":1')
check 'each group has the limit of its own' says 0 'P10 ok, P11 ok$' "$group" "$(claim 10 1 a)" "$(claim 20 2 b)" "$(claim 21 3)" "$(claim 22 4)"
check 'two jobs of a group at once break P10' says 1 'P10 BROKEN \(1\)' "$group" "$(claim 10 1 a)" "$(claim 20 2 a)"
check 'the group is named' grep -q 'while 1 other jobs of group a of queue q ran' out
check 'the limit of the queue counts all groups' says 1 'P10 BROKEN' "$(limits 5 '"group_limit":1,"limit":1')" "$(claim 10 1 a)" "$(claim 20 2 b)"

# Job 1 was enqueued before job 2, so it runs first.
two=("$group" "$(added 6 1 a)" "$(added 8 2 a)")
check 'jobs that run in their order keep P11' says 0 'P11 ok' "${two[@]}" "$(claim 10 1 a)" "$(verdict 15 1 10)" "$(claim 20 2 a)"
check 'a job that passes another breaks P11' says 1 'P11 BROKEN \(1\)' "${two[@]}" "$(claim 10 2 a)" "$(verdict 15 2 10)" "$(claim 20 1 a)"
check 'both jobs are named' grep -qx \
	'P11 job 2 of group a of queue q was claimed although job 1 was before it and was claimed 9000 us later' out
check 'a job of another group may run first' says 0 'P11 ok' "$group" "$(added 6 1 a)" "$(added 8 2 b)" "$(claim 10 2 b)" "$(claim 20 1 a)"
check 'a more urgent job may run first' says 0 'P11 ok' "${two[@]}" "$(claim 10 2 a 1 '"priority":1')" "$(verdict 15 2 10)" "$(claim 20 1 a 1 '"priority":2')"
check 'a less urgent job may not' says 1 'P11 BROKEN' "${two[@]}" "$(claim 10 2 a 1 '"priority":2')" "$(verdict 15 2 10)" "$(claim 20 1 a 1 '"priority":1')"
check 'a job with a delay comes later' says 0 'P11 ok' "$group" "$(added 6 1 a '"delay_ms":5')" "$(added 8 2 a)" "$(claim 10 2 a)" "$(verdict 15 2 10)" "$(claim 20 1 a)"
check 'jobs that were enqueued at the same time have any order' says 0 'P11 ok' "$group" "$(added 6 1 a)" \
	"$(added 8 2 a | sed 's/"asked":7000/"asked":5500/')" "$(claim 10 2 a)" "$(verdict 15 2 10)" "$(claim 20 1 a)"
check 'jobs of one call have the order of the call' says 1 'P11 BROKEN' "$group" "$(added 6 1 a)" "$(added 6 2 a)" "$(claim 10 2 a)" "$(verdict 15 2 10)" "$(claim 20 1 a)"
check 'a job that was changed may have another turn' says 0 'P11 ok' "${two[@]}" "$(event 7 changed '"id":1')" "$(claim 10 2 a)" "$(verdict 15 2 10)" "$(claim 20 1 a)"
retried=("${two[@]}" "$(claim 10 1 a)" "$(verdict 15 1 10 fail)" "$(claim 20 2 a)" "$(verdict 25 2 20)" "$(claim 30 1 a 2)")
check 'a group waits for the retry of a failed job' says 1 'P11 BROKEN' "${retried[@]}"
check '... but not with --group-on-failure pass' says 0 'P11 ok' "${retried[@]/'"group_limit":1'/'"group_limit":1,"group_on_failure":"pass"'}"
check 'a job whose first claim is not recorded may have begun first, with pass' says 0 'P11 ok' \
	"$(limits 5 '"group_limit":1,"group_on_failure":"pass"')" "${two[@]:1}" "$(claim 20 2 a)" "$(verdict 25 2 20)" "$(claim 30 1 a 2)"
check 'a group limit of 2 has no order' says 0 'P10 ok$' "$(limits 5 '"group_limit":2')" "${two[@]:1}" "$(claim 10 2 a)" "$(verdict 15 2 10)" "$(claim 20 1 a)"
check 'jobs that were enqueued before the limit have no order' says 0 'P11 ok' "$(limits 9 '"group_limit":1')" "${two[@]:1}" "$(claim 10 2 a)" "$(verdict 15 2 10)" "$(claim 20 1 a)"

rate=$(limits 5 '"rate":2,"rate_ms":100')
check 'two starts in the window are no violation' says 0 'P12 ok$' "$rate" "$(claim 10 1)" "$(claim 20 2)" "$(claim 110 3)" "$(claim 120 4)"
check 'a third start in the window breaks P12' says 1 'P12 BROKEN \(1\)' "$rate" "$(claim 10 1)" "$(claim 20 2)" "$(claim 108 3)"
check 'the claim that came too soon is named' grep -qx \
	'P12 job 3: claim 107500 is start number 3 of queue q within 98000 us, but the rate allows 2 in 100000 us' out
check 'the window slides' says 1 'P12 BROKEN \(2\)' "$rate" "$(claim 90 1)" "$(claim 95 2)" "$(claim 105 3)" "$(claim 110 4)"
check 'a claim before the rate was set does not count' says 0 'P12 ok' "$(claim 4 1)" "$rate" "$(claim 10 2)" "$(claim 20 3)"
check 'limits without their queue are refused' says 2 'broken line|the limits have no queue' "${one/\"queue\"/\"que\"}"
check 'a rate without its window is refused' says 2 'the rate has no rate_ms' "${rate/rate_ms/rate}"

# Check that the commands record all facts that `check` needs.
readpast --history h queue set mail --limit 2 >/dev/null
readpast --history h enqueue mail x --group acme --quiet
readpast --history h enqueue mail y --delay 1h --quiet
readpast --history h claim mail >/dev/null
check 'queue set records the limits' equal \
	"$(jq -c 'select(.event == "limits") | [.queue, .limit, .group_limit, .group_on_failure, .rate, .rate_ms]' h)" '["mail",2,0,"block",0,0]'
check 'enqueue records the group and the delay' equal \
	"$(jq -c 'select(.event == "enqueued") | [.queue, .group, .delay_ms]' h | paste -sd' ')" '["mail","acme",null] ["mail",null,3600000]'
check 'a claim records the queue, the group and the priority' equal \
	"$(jq -c 'select(.event == "claimed") | [.queue, .group, .priority]' h)" '["mail","acme",100]'

finish
