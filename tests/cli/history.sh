#!/usr/bin/env bash
# Test the command `check`, which reads a history and reports broken promises. A history
# is a record of what clients did. In a history of killed workers the command must find
# no broken promise. In histories that are written by hand, it must find each broken
# promise.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

# Let four workers do 3,000 jobs, and kill two of the workers before all jobs are done.
seq 3000 | readpast --history h enqueue q --quiet
pids=()
for _ in 1 2 3 4; do
	"$READPAST" --history h work q -j 2 --lease 1s --drain -- true >/dev/null 2>&1 &
	pids+=($!)
done
half() {
	(($(field ready "$(readpast stats q --json)") < $1))
}
eventually half 2200
kill -9 "${pids[0]}"
eventually half 1200
kill -9 "${pids[1]}"
wait "${pids[2]}" && wait "${pids[3]}"
check 'the other workers drain the queue' equal "$?" 0
check 'every job was done, and the history agrees' \
	equal "$(readpast check h --left q | tail -n 1)" 'P1 ok, P2 ok, P3 ok, P6 ok'
readpast --history two enqueue one x --quiet
readpast --history two enqueue other x --quiet
check 'jobs may be left in several queues' grep -q 'P1 ok' <(readpast check two --left one --left other)
check 'a job of another queue is lost' grep -q 'P1 BROKEN' <(readpast check two --left one)
check 'no job is left' equal "$(readpast stats q --json | grep -oE '"(ready|running|dead)":[0-9]+' | paste -sd,)" '"ready":0,"running":0,"dead":0'

# Each of the following histories breaks one promise.
enqueued='{"at":10,"client":"a:1","event":"enqueued","id":1,"queue":"q","outcome":"added"}'
claim() { # AT CLAIM ATTEMPT [MAX]: print the event of a claim
	echo "{\"at\":$1,\"client\":\"a:1\",\"event\":\"claimed\",\"id\":1,\"claim\":$2,\"attempt\":$3,\"max_attempts\":${4:-3},\"lease_ms\":1000,\"asked\":$(($1 - 5))}"
}
verdict() { # AT CLAIM VERDICT [RESULT]: print the event of a verdict that was answered
	echo "{\"at\":$1,\"client\":\"a:1\",\"event\":\"settled\",\"id\":1,\"claim\":$2,\"verdict\":\"$3\",\"result\":\"${4:-ok}\",\"asked\":$(($1 - 5)),\"lease_ms\":1000}"
}
begun() { # AT CLAIM VERDICT: print the event of a verdict that was sent
	echo "{\"at\":$1,\"client\":\"a:1\",\"event\":\"settling\",\"id\":1,\"claim\":$2,\"verdict\":\"$3\"}"
}
audited='{"at":99000000,"client":"a:1","event":"audited","queue":"q"}'
left='{"at":98000000,"client":"a:1","event":"left","id":1,"state":"ready"}'
says() { # STATUS PATTERN LINE...: `check` of these lines exits and prints like this
	local expected=$1 pattern=$2
	shift 2
	printf '%s\n' "$@" >broken
	readpast check broken >out 2>&1
	equal $? "$expected" && tail -n 1 out | grep -qE "$pattern" && return
	cat out
	return 1
}
check 'a history without a violation is clean' says 0 'P1 ok, P2 ok, P3 ok, P6 ok' \
	"$enqueued" "$(claim 100 5 1)" "$(verdict 200 5 'done')" "$audited"
check 'a job that is lost breaks P1' says 1 'P1 BROKEN' "$enqueued" "$(claim 100 5 1)" "$audited"
check 'a job is not lost if a job of an earlier history keeps its key' says 0 'P1 ok' "${enqueued/added/existed}" "$audited"
check 'a job that is still there is not lost' says 0 'P1 ok' "$enqueued" "$left" "$audited"
check 'a job whose outcome is unknown is not lost' says 0 'P1 ok' "$enqueued" "$(claim 100 5 1)" "$(begun 200 5 'done')" "$audited"
check 'a job is not lost if its verdict was repeated and then refused' says 0 'P1 ok' "$enqueued" "$(claim 100 5 1)" \
	"$(begun 200 5 'done')" "$(begun 300 5 'done')" "$(verdict 400 5 'done' gone)" "$audited"
check 'a job is lost if its verdict was refused at once' says 1 'P1 BROKEN' "$enqueued" "$(claim 100 5 1)" \
	"$(begun 200 5 'done')" "$(verdict 400 5 'done' gone)" "$audited"
check 'P1 is not checked without an audit' says 0 'P1 not checked' "$enqueued"
check 'two holders at the same time break P2' says 1 'P2 BROKEN' "$enqueued" "$(claim 100 5 1)" "$(claim 500000 6 2)"
check 'a claim number that is given twice breaks P2' says 1 'P2 BROKEN' "$enqueued" "$(claim 100 5 1)" "$(claim 2000000 5 2)"
check 'a next claim after the end of the lease is no violation' says 0 'P2 ok' "$enqueued" "$(claim 100 5 1)" "$(claim 2000000 6 2)"
check 'a next claim after a verdict is no violation' says 0 'P2 ok' "$enqueued" "$(claim 100 5 1)" "$(verdict 200 5 fail)" "$(claim 300 7 2)"
check 'a next claim during an extended lease breaks P2' says 1 'P2 BROKEN' "$enqueued" "$(claim 100 5 1)" "$(verdict 900000 5 extend)" "$(claim 1500000 6 2)"
check 'a late verdict that is accepted breaks P3' says 1 'P3 BROKEN' "$enqueued" "$(claim 100 5 1)" "$(claim 2000000 6 2)" "$(verdict 3000000 5 'done')"
check 'a late verdict that is refused is no violation' says 0 'P3 ok' "$enqueued" "$(claim 100 5 1)" "$(claim 2000000 6 2)" "$(verdict 3000000 5 'done' gone)"
check 'two accepted verdicts for one claim break P3' says 1 'P3 BROKEN' "$enqueued" "$(claim 100 5 1)" "$(verdict 200 5 fail)" "$(verdict 300 5 'done')"
check 'an attempt that is not counted breaks P6' says 1 'P6 BROKEN' "$enqueued" "$(claim 100 5 1)" "$(claim 2000000 6 1)"
check 'an attempt that is not counted after a release is no violation' says 0 'P6 ok' "$enqueued" "$(claim 100 5 1)" "$(verdict 200 5 release)" "$(claim 300 7 1)"
check 'more attempts than allowed break P6' says 1 'P6 BROKEN' "$enqueued" "$(claim 100 5 4 3)"
check 'a line that is not JSON is named: exit 2' says 2 'broken:2: not a JSON object' "$enqueued" garbage "$audited"
check 'an unknown word in a known field is refused: outcome' says 2 'broken:1: no such outcome' "${enqueued/added/aded}"
check 'an unknown word in a known field is refused: result' says 2 'broken:1: no such result' "$(verdict 200 5 'done' okay)"
check 'an unknown word in a known field is refused: state' says 2 'broken:1: no such state' "${left/ready/redy}"
check 'an unknown word in a known field is refused: group_on_failure' says 2 'broken:1: no such group_on_failure' \
	'{"at":1,"client":"a:1","event":"limits","queue":"q","group_limit":1,"group_on_failure":"bloc"}'
printf '%s\n{"at":1,"cl' "$enqueued" >torn
check 'an incomplete last line is accepted' status 0 readpast check torn
check 'an incomplete line in the middle is refused' says 2 'broken:2: not a JSON object' "$enqueued" '{"at":1,"cl' "$audited"
check 'an incomplete line that ends with a number is refused' says 2 'broken:1: not a JSON object' '{"at":1' "$enqueued"
check 'several files may each have an incomplete last line' status 0 readpast check torn torn
check 'a line that its client could not write completely is counted' says 0 'P1 not checked' "$enqueued" $'{"at":1,"cl\030' "$(claim 100 5 1)" $'\030'
check 'the missing event is reported' grep -qx '1 event is missing: its line could not be written completely, for example because the disk was full' out
check '... also in JSON' equal "$(field incomplete "$(readpast check broken --json)")" 1
check 'a missing file exits with 2' refuses 2 'No such file' readpast check nowhere
check 'a folder in place of a file exits with 2' refuses 2 'cannot be read' readpast check .

# ---- a history that cannot be written ----

check 'a history on a full device: exit 1, one line says why' \
	refuses 1 '^readpast: cannot write the history: No space left on device$' readpast --history /dev/full enqueue full 1 2 3
check 'the jobs are in the queue' equal "$(readpast list full --json | wc -l)" 3
printf '%s\n{"at":1,"cl' "$enqueued" >killed
readpast --history killed enqueue full 4 --quiet
check 'a line after the incomplete line of another client can be read' equal "$(readpast check killed | head -n 1)" \
	'2 events of 2 jobs by 2 clients: 0 claims, 0 verdicts'

# In the first 4 KiB of the disk is room for some of the events. Later the disk has room
# again, and the same command continues.
small=$here/small
trap 'kill $(jobs -p) 2>/dev/null; umount -q "$small" 2>/dev/null; cd /; rm -rf "$here"' EXIT
mkdir "$small"
if mount -t tmpfs -o size=16k tmpfs "$small" 2>/dev/null; then
	head -c 12288 /dev/zero >"$small/filler"
	make_room_after_60() {
		seq 60
		eventually test -s err
		rm "$small/filler"
		seq 61 63
	}
	: >err # it has the text of an earlier test
	make_room_after_60 | readpast --history "$small/h" enqueue disk --quiet 2>err
	check 'a history on a full disk: exit 1' equal "$?" 1
	check 'the reason is printed once' equal "$(cat err)" 'readpast: cannot write the history: No space left on device'
	readpast check "$small/h" >out
	check 'the rest of the history can be read' equal $? 0
	check 'the incomplete line is reported' grep -q '^1 event is missing: ' out
	check 'the last three events are in the history' equal "$(tail -n 3 "$small/h" | jq -r .event | paste -sd,)" 'enqueued,enqueued,enqueued'
	umount "$small"
fi

# A history may also come from a client that puts blanks between the tokens of
# its JSON.
printf '%s\n' "$enqueued" "$(claim 100 5 1)" "$(verdict 200 5 'done')" "$audited" >plain
sum='3 events of 1 job by 1 client: 1 claim, 1 verdict'
# Print a claim event of a job that a schedule enqueued. INSTANT, one digit, is the
# minute after midnight at which the schedule was due.
fired() { # ID INSTANT LATE_MS [AT CLAIM ATTEMPT]
	local line
	line=$(claim "${4:-100}" "${5:-5}" "${6:-1}")
	line=${line/\"id\":1,/\"id\":$1,}
	echo "${line%\}},\"schedule\":\"s\",\"scheduled_for\":\"2026-01-01T00:0$2:00Z\",\"late_ms\":$3}"
}
check 'check sees that each instant of a schedule fired once' says 0 'P6 ok, P7 ok$' "$(fired 1 0 7)" "$(fired 2 1 70)" "$(fired 2 1 70 2000000 6 2)"
check 'check says how many instants fired, and how late' grep -qx '2 instants of 1 schedules fired, the latest 70 ms after its time' out
check 'an instant with two jobs breaks P7' says 1 'P7 BROKEN \(1\)' "$(fired 1 0 7)" "$(fired 2 0 7)"
check 'the instant with two jobs is named' grep -qx 'P7 schedule s fired twice for 2026-01-01T00:00:00Z: jobs 1 and 2' out
readpast cron add ticks tick 'every 1s' >/dev/null
readpast cron run tick >/dev/null
sleep 1.1
readpast sweep
readpast --history fires claim ticks -n 10 >/dev/null
check 'a claim has the instant of its job; a job of cron run has none' equal \
	"$(jq -c '[.schedule, (.scheduled_for | type), (.late_ms | type)]' fires | LC_ALL=C sort -u | paste -sd,)" \
	'["tick","string","number"],[null,"null","null"]'

check 'check reads standard input' equal "$(readpast check - <plain)" "$sum"$'\nP1 ok, P2 ok, P3 ok, P6 ok'
check 'check names errors in standard input' equal "$(echo x | readpast check - 2>&1)" \
	'readpast: standard input:1: not a JSON object'
check 'the order of lines does not matter' equal "$(tac plain | readpast check -)" "$(readpast check plain)"
check 'lines may contain blanks' equal "$(sed 's/:/ : /g; s/,/ , /g; s/^/ /; s/$/\r/' plain | sed 's/a : 1/a:1/' | readpast check -)" "$(readpast check plain)"
check 'unknown fields are ignored' equal "$(sed 's/^{/{"x":{"id":[7,{"event":"}]"}],"y":-1.5e3},"z":"\\"}","n":null,"id_":9,/' plain | readpast check -)" "$(readpast check plain)"
check 'each client is counted once' equal "$(for i in 1 2 3 1 2 3; do
	echo "${enqueued/a:1/a:$i}"
done | readpast check - | head -n 1)" '6 events of 1 job by 3 clients: 0 claims, 0 verdicts'
check 'an extended lease is no verdict' says 0 'P1 ok' "$enqueued" "$(claim 100 5 1)" "$(verdict 200 5 extend)" "$(verdict 300 5 'done')" "$audited"
check '... and is not counted as one' equal "$(head -n 1 out)" '4 events of 1 job by 1 client: 1 claim, 1 verdict'
for bad in '[1]' '{}}' '{"at":1,}' '{"at"}' '{"at":}' '{"x":{}' '{"x":"}' \
	'1' '{"x":}}' "{\"x\":\"a$(printf '\001')\"}"; do
	check "a line that is no object is refused: ${bad//[^ -~]/?}" says 2 'broken:2: not a JSON object' "$enqueued" "$bad" "$audited"
done
check 'a number in quotes is refused' says 2 'broken:1: the id is missing' "${enqueued/:1,/:\"1\",}"
for bad in 1.5 1e3 1. - 1x 99999999999999999999; do
	check "a number that is not whole is refused: $bad" says 2 'broken:1: a number is not whole' "${enqueued/:1,/:$bad,}"
done
check 'a negative time is refused' says 2 'broken:1: a number is out of range' "${enqueued/:10,/:-10,}"

# Ten million events must fit into 2 GiB of memory, so each may take 214 bytes.
awk 'BEGIN { for (i = 1; i <= 100000; i++) {
	e = sprintf("\"client\":\"h:%d\",\"id\":%d,\"claim\":%d", i % 16, i, 1795236897000000 + i)
	printf "{\"at\":%d,\"event\":\"enqueued\",\"client\":\"p:1\",\"id\":%d}\n", i, i
	printf "{\"at\":%d,\"event\":\"claimed\",%s,\"attempt\":1,\"max_attempts\":3,\"lease_ms\":60000,\"asked\":%d}\n", 2 * i, e, i
	printf "{\"at\":%d,\"event\":\"started\",%s}\n", 3 * i, e
	printf "{\"at\":%d,\"event\":\"settling\",%s,\"verdict\":\"done\"}\n", 4 * i, e
	printf "{\"at\":%d,\"event\":\"settled\",%s,\"verdict\":\"done\",\"result\":\"ok\",\"asked\":%d}\n", 5 * i, e, 4 * i
} print "{\"event\":\"audited\"}" }' | shuf >many
needs() { # KIB COMMAND...
	python3 - "$@" <<-'END'
		import resource, subprocess, sys
		code = subprocess.run(sys.argv[2:]).returncode
		used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
		sys.exit(code or used > int(sys.argv[1]) and f"{used} KiB")
	END
}
most=107000
[[ -z $(sanitizer_of "$READPAST") ]] || most=400000 # a sanitizer keeps freed memory
check 'half a million events in any order are checked in little memory' needs $most "$READPAST" check many
check 'all events are counted' equal "$(readpast check many | head -n 1)" \
	'500000 events of 100000 jobs by 17 clients: 100000 claims, 100000 verdicts'

# In each of N groups, a job waits for its retry, and another job waits for the group.
with_groups() { # N
	readpast --db "sqlite:$1.db" queue set q --group-limit 1 >/dev/null
	sqlite3 "$1.db" "create table numbers as
			with recursive n(n) as (select 1 union all select n + 1 from n where n < $1) select n from n;
		insert into readpast_job (queue_id, run_at, group_key, came)
		select 1, 4000000000000, 'g' || n, 0 from numbers;
		insert into readpast_group_slot (queue_id, group_key, job_id)
		select queue_id, group_key, id from readpast_job;
		insert into readpast_job (queue_id, run_at, group_key, came)
		select 1, 9223372036854775807, 'g' || n, n from numbers;
		insert into readpast_group_wait (queue_id, group_key, priority, came, job_id, run_at)
		select queue_id, group_key, priority, came, id, 1 from readpast_job where came > 0"
}
with_groups 5000
with_groups 20000
no_more_than() { # FACTOR: compare the CPU times of the checks
	python3 - "$1" "$READPAST" <<-'END'
		import resource, subprocess, sys
		def spent():
		    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
		def least(groups):
		    times = []
		    for _ in range(3):
		        before = spent()
		        subprocess.run([sys.argv[2], "--db", f"sqlite:{groups}.db", "check",
		                        "/dev/null", "--left", "q"], check=True)
		        times.append(spent() - before)
		    return min(times)
		factor = least(20000) / least(5000)
		sys.exit(factor > float(sys.argv[1]) and f"{factor:.1f} times as long")
	END
}
check 'four times as many groups that wait for a retry are checked in about four times the time' no_more_than 6
finish
