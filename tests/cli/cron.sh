#!/usr/bin/env bash
# Test the commands for schedules. The first part tests `cron next`, which needs no
# database. The second part tests the commands that change schedules in a database.
#
#   cron.sh READPAST
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"

next() {
	readpast cron next "$@"
}
prints() { # LINES ARGUMENT...
	local lines=$1
	shift
	equal "$(next "$@")" "$lines"
}
berlin=(--zone Europe/Berlin)

check 'a line says that a local time was skipped' prints \
	'{"at":"2026-03-28T01:30:00Z","local":"2026-03-28T02:30:00+01:00","abbreviation":"CET"}
{"at":"2026-03-30T00:30:00Z","local":"2026-03-30T02:30:00+02:00","abbreviation":"CEST","skipped":"2026-03-29T02:30:00"}' \
	'30 2 * * *' "${berlin[@]}" -n 2 --from 2026-03-27T12:00:00Z --json
check 'a line says that a local time came twice' prints \
	'{"at":"2026-10-26T01:30:00Z","local":"2026-10-26T02:30:00+01:00","abbreviation":"CET","doubled":"2026-10-25T02:30:00"}' \
	'30 2 * * *' "${berlin[@]}" -n 1 --from 2026-10-25T00:30:00Z --json
check 'a line has the number of skipped times' prints \
	'{"at":"2026-03-30T00:00:00Z","local":"2026-03-30T02:00:00+02:00","abbreviation":"CEST","skipped":"2026-03-29T02:00:00","skipped_count":4}' \
	'*/15 2 * * *' "${berlin[@]}" -n 1 --from 2026-03-29T00:45:00Z --json
check 'all fires are later than --from' prints '2026-01-02T00:00:00Z  Fri 2026-01-02 00:00:00 UTC' \
	@daily -n 1 --from 2026-01-01T00:00:00Z
check 'an interval counts from --from' prints \
	'2026-01-01T00:01:30.500Z  Thu 2026-01-01 00:01:30 UTC' 'every 90s' -n 1 --from 2026-01-01T00:00:00.5Z
check 'a clock change neither shortens nor lengthens an interval' prints \
	'2026-10-25T00:00:00Z  Sun 2026-10-25 02:00:00 CEST
2026-10-25T01:30:00Z  Sun 2026-10-25 02:30:00 CET' 'every 90m' "${berlin[@]}" -n 2 --from 2026-10-24T22:30:00Z
check 'cron next prints five lines, beginning now' equal "$(next @hourly | wc -l)" 5
check 'cron next has not made a database' test ! -e readpast.db
check 'cron next needs no database' status 0 readpast --db postgres://nobody@nowhere.invalid/x cron next @daily
check 'a wrong spec is refused' refuses 2 'hour 25: expected 0 to 23' next '0 25 * * *'
check 'a spec that can never fire is refused' refuses 2 'never fires' next '0 0 30 2 *'
check 'an unknown zone is refused, with a similar name' refuses 2 'did you mean Europe/Berlin\?' next @daily --zone Europe/Berlim
check 'a zone that is the path of another file is refused' refuses 2 'unknown time zone' next @daily --zone ../../../etc/passwd
check 'a wrong time is refused' refuses 2 'expected a time' next @daily --from tomorrow
for time in 2026-03-28 2026-03-28T12:00:00; do
	check "the time $time, which has no zone, is refused" \
		refuses 2 'expected a time with a zone, such as 2026-01-31T18:00:00Z' next @daily --from "$time"
done
check 'the time of a day that does not exist is refused' refuses 2 '2030-02-31T00:00:00Z: there is no such day' \
	next @daily --from 2030-02-31T00:00:00Z
check 'a time of day that does not exist is refused' refuses 2 'no such time of day' next @daily --from 2030-02-03T24:00:00Z
check 'cron next searches to the end of the year 9999, and says so' refuses 3 'cron next: no such time before the year 10000 in this zone$' \
	readpast cron next '* * * * *' --from 9999-12-31T23:59:59Z
for time in 1960-01-01T00:00:00Z 1970-01-01T00:30:00+01:00 @-5 @253402300800 @99999999999999999999; do
	check "the time $time is out of range" refuses 2 "${time/+/.}: times must be between 1970 and 9999" next @daily --from "$time"
done
check 'a missing spec is refused' refuses 2 'which SPEC' next
check 'an empty spec is refused' refuses 2 'which SPEC' next ''
check 'a spec without quotes is refused' refuses 2 'in quotes' next 0 2 1 1 1
check 'zero lines are refused' refuses 2 'expected 1 to' next @daily -n 0
check 'a time that a clock never shows has no next fire' refuses 3 'no such time' next '30 2 25-31 3 */7' "${berlin[@]}"
check 'an unknown command of cron is refused' refuses 2 'no such command: cron nxt \(see readpast help cron\)' \
	readpast cron nxt
for group in cron queue; do
	check "$group without a second word exits with 2" status 2 readpast "$group"
	check "the message of $group lists its commands" grep -q "^  $group [a-z]* " err
	check "help $group succeeds" status 0 readpast help "$group"
	check "help $group lists all its commands on standard output" equal "$(grep -o "^  $group [a-z]*" out)" "$(readpast help | grep -o "^  $group [a-z]*")"
	check "$group --help prints the same" equal "$(readpast "$group" --help)" "$(cat out)"
done
check 'help takes a command of two words' equal "$(readpast help cron run)" "$(readpast cron run --help)"
check 'help takes the other name of a command' equal "$(readpast help queue pause)" "$(readpast pause --help)"
check 'help of an unknown command is refused' refuses 2 'no such command: crn \(see readpast help\)' readpast help crn

# ---- schedules in a database ----

schedule() { # NAME FIELD: print a field of a schedule
	readpast cron list "$1" --json | jq -r ".$2"
}
check 'a spec that never fires is not added' refuses 2 'never fires' readpast cron add mail never '0 0 30 2 *'
check 'a spec that never fires in its zone is not added' refuses 2 'Europe/Berlin has no such time' \
	readpast cron add mail never '30 2 25-31 3 */7' "${berlin[@]}"
check 'a spec in an unknown zone is not added, and the message has a similar name' refuses 2 'did you mean Europe/Berlin' \
	readpast cron add mail never @daily --zone Europe/Berlim
check 'a schedule with a wrong name is not added' refuses 2 'name' readpast cron add mail '' @daily
echo '[{"name":"x","queue":"q","spec":"@dayly"}]' >bad.json
check 'a file with a wrong spec is refused' refuses 2 'bad.json: x: .*@dayly' readpast cron apply bad.json
echo '[]' >empty.json
check 'a dry run needs a database' refuses 1 'no database' readpast cron apply empty.json --dry-run
check 'the refused commands have made no database' test ! -e readpast.db
check 'the first schedule makes the database' equal \
	"$(readpast cron add mail nightly '30 2 * * 1-5' --zone Europe/Berlin --payload report 2>&1 >/dev/null)" \
	"readpast: made the database $PWD/readpast.db"
check 'a second schedule of the same name is refused' refuses 4 'there is a schedule named nightly \(--replace changes it\)' \
	readpast cron add mail nightly @daily
check 'the refused schedule changes nothing' equal "$(schedule nightly spec)" '30 2 * * 1-5'
check '--replace prints what it changes' equal \
	"$(readpast cron add mail nightly @daily --replace | head -n 1)" 'replaced nightly: spec, zone, payload'
check 'the schedule has the new values' equal "$(schedule nightly 'spec + .zone + .payload')" '@dailyUTC'
check '--replace with the same values changes nothing' equal \
	"$(readpast cron add mail nightly @daily --replace --json | jq -c '[.result, .changes]')" '["unchanged",null]'
id=$(readpast cron run nightly)
check 'a job of cron run has the name of its schedule' equal \
	"$(readpast show "$id" --json | jq -r '.headers["readpast-schedule"] + " " + .headers["readpast-manual"]')" \
	'nightly true'
check 'the job has the payload that was set last' equal "$(readpast show "$id" --json | jq -r .payload)" ''
readpast cron add mail beat 'every 1s' --overlap skip --payload tick >/dev/null
day=$(date -u +%F)
# shellcheck disable=SC2016
instant=$(readpast work mail --max-jobs 2 --quiet -- sh -c 'echo "$READPAST_SCHEDULED_FOR"' | tail -n 1)
check 'a worker fires the schedule, and the handler gets the instant' \
	grep -qE "^($day|$(date -u +%F))T" <<<"$instant"
check 'cron list has the last fire' equal "$(schedule beat last_state)" 'null'
readpast cron pause beat
job=$(schedule beat last_job_id)
check 'a paused schedule that is replaced stays paused, and this is printed' equal \
	"$(readpast cron add mail beat 'every 1s' --overlap skip --payload tock --replace)" 'replaced beat: payload
beat is paused: readpast cron resume beat resumes it'
check 'the replaced schedule keeps its last fire' equal "$(schedule beat last_job_id)" "$job"
check 'cron next prints that the schedule is paused' equal "$(readpast cron next beat -n 1 2>&1 >/dev/null)" \
	'readpast: beat is paused: it does not fire at these times unless it is resumed'
check 'cron next --json has this, too' equal "$(readpast cron next beat -n 1 --json 2>/dev/null | jq .paused)" true
check 'cron list prints the settings that differ from the default' equal \
	"$(readpast cron list beat | sed -n 's/^  \(overlap\|missed\|payload\)  */\1 /p' | tr '\n' ' ')" 'overlap skip payload tock '
readpast cron add mail heads @daily --header a=1 --header 'b=x=y' >/dev/null
check 'cron add stores headers' equal "$(schedule heads 'headers | tojson')" '{"a":"1","b":"x=y"}'
check 'the jobs of a schedule have its headers' equal \
	"$(readpast show "$(readpast cron run heads)" --json | jq -r '.headers | .a + .b')" 1x=y
check '--replace prints that the headers changed' equal "$(TRACEPARENT=00-aa-bb-01 \
	readpast cron add mail heads @daily --header a=2 --replace | head -n 1)" 'replaced heads: headers'
check 'a schedule takes no trace from the environment' equal "$(schedule heads 'headers | tojson')" '{"a":"2"}'
readpast cron remove heads
check 'a header without a value is refused' refuses 2 'expected NAME=VALUE' readpast cron add mail heads @daily --header a
check 'a header that is given twice is refused' refuses 2 '--header a: the header is given twice' \
	readpast cron add mail heads @daily --header a=1 --header a=2
readpast cron run beat >/dev/null
check 'cron run is refused while its job is live' refuses 4 '--overlap skip, and its job [0-9]+ is still live' \
	readpast cron run beat
check 'cron run --json is refused while its job is live' refuses 4 'still live' readpast cron run beat --json
check 'a paused schedule has no next fire' equal "$(readpast cron list beat | grep -c 'none while it is paused')" 1
readpast cron resume beat
check 'a resumed schedule is no longer paused' equal "$(schedule beat paused_at)" null
check 'cron next prints the next times of a schedule' equal "$(readpast cron next beat -n 3 | wc -l)" 3
echo '[{"name":"beat","queue":"mail","spec":"every 3s"},{"name":"new","queue":"q","spec":"@hourly"}]' >file.json
check 'apply --dry-run prints the changes' equal "$(readpast cron apply file.json --dry-run | tail -n 1)" \
	'1 added, 1 changed, 1 removed, 0 unchanged (dry run: nothing was done)'
check 'apply --dry-run changes nothing' equal "$(readpast cron list --json | jq -r .name | tr '\n' ' ')" 'beat nightly '
check 'apply --dry-run --json prints a line for each change' equal "$(readpast cron apply file.json --dry-run --json)" \
	'{"name":"beat","would_be":"changed","changes":"spec, payload, overlap"}
{"name":"new","would_be":"added","changes":null}
{"name":"nightly","would_be":"removed","changes":null}'
check 'apply succeeds' status 0 readpast cron apply file.json
check 'apply has removed the schedule that is not in the file' equal "$(readpast cron list --json | jq -r .name | tr '\n' ' ')" 'beat new '
check 'a second apply changes nothing' equal "$(readpast cron apply file.json)" '0 added, 0 changed, 0 removed, 2 unchanged'
echo '[{"name":"beat"},{"name":"x","queue":"q","spec":"@daily"}]' >bad.json
check 'a file with a mistake is refused' refuses 2 'beat: .*queue and spec' readpast cron apply bad.json
check 'no schedule of the refused file was added' refuses 3 'no schedule named x' readpast cron list x
check 'a second apply with --json prints nothing' equal "$(readpast cron apply file.json --json)" ''
echo '[{"name":"beat","queue":"mail","spec":"every 3s"},{"name":"new","queue":"q","spec":"@daily"}]' >daily.json
check 'apply --json prints what it changes' equal "$(readpast cron apply daily.json --json)" \
	'{"name":"new","result":"changed","changes":"spec"}'
readpast cron apply file.json >/dev/null
printf 'a\0\377' >bytes
echo '[{"name":"beat","queue":"mail","spec":"every 3s"},
 {"name":"new","queue":"q","spec":"@hourly","payload_base64":"'"$(base64 bytes)"'"}]' >bytes.json
check 'a payload that is not text is given in base64' equal "$(readpast cron apply bytes.json | head -n 1)" 'changed new: payload'
check 'cron list prints this payload in base64' equal "$(schedule new payload_base64)" "$(base64 bytes)"
readpast cron list --json | jq -s . >list.json
check 'the output of cron list can be applied and changes nothing' equal "$(readpast cron apply list.json)" \
	'0 added, 0 changed, 0 removed, 2 unchanged'
for bad in '"Yf"' '"Y!=="' '"Y==="' 7; do
	echo '[{"name":"new","queue":"q","spec":"@hourly","payload_base64":'"$bad"'}]' >bad.json
	check "$bad is refused as base64" refuses 2 'new: payload_base64: expected a string in base64' readpast cron apply bad.json
done
echo '[{"name":"new","queue":"q","spec":"@hourly","payload":"a","payload_base64":"YQ=="}]' >bad.json
check 'a schedule with two payloads is refused' refuses 2 'payload is given twice' readpast cron apply bad.json
echo '{' >bad.json
check 'a missing file is refused' refuses 2 'cron apply: cannot read nofile: No such' readpast cron apply nofile
check 'a folder in place of a file is refused' refuses 2 'cron apply: cannot read \.: Is a directory$' readpast cron apply .
readpast cron apply - 2>err <&-
check 'standard input that is closed is refused' equal "$? $(cat err)" '2 readpast: cron apply: cannot read standard input: Bad file descriptor'
check 'an unknown word after --overlap is refused' refuses 2 'overlap x: expected allow or skip' readpast cron add q n @daily --overlap x
check 'a file that is not JSON is refused' refuses 2 'bad\.json: line' readpast cron apply bad.json
check 'a schedule is removed' status 0 readpast cron remove beat
check 'a missing schedule cannot be removed' refuses 3 'no schedule named beat' readpast cron remove beat
readpast cron add only-schedules one @daily >/dev/null
readpast cron add only-schedules two @daily >/dev/null
check 'queue drop without --yes names the schedules and is refused' refuses 2 \
	'deletes all jobs of only-schedules, and its schedules \(one, two\), for good: confirm with --yes' \
	readpast queue drop only-schedules
check 'queue drop --yes drops a queue that has only schedules' status 0 readpast queue drop only-schedules --yes
check 'queue drop --yes removes the schedules, too' equal "$(readpast cron list --json | jq -r .name | tr '\n' ' ')" 'new '
finish
