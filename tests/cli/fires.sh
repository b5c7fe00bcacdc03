#!/usr/bin/env bash
# Test many schedules that are due at the same moment. Each must fire once, within five
# seconds, although workers are killed with kill -9 during the test. With a sanitizer the
# workers need much of their short lives to begin, so the time is only printed. Two
# workers run at a time. They write a history (option --history), and the script reads
# from it which schedules fired. The script also prints how late the last schedule fired.
#
#   fires.sh READPAST sqlite:|postgres: [N]   N schedules; 500 by default
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
on_database "$2"
number=${3:-500}
MOST_MS=5000
RANDOM=$$

on_either() { # SQL-OF-SQLITE SQL-OF-POSTGRESQL
	if [[ $READPAST_DB == sqlite:* ]]; then sql "$1"; else sql "$2"; fi
}
not_fired() {
	on_either 'select count(*) from readpast_schedule where last_at is null' \
		"select count(*) from ${schema-}.schedule where last_at is null"
}
worker() { # I
	"$READPAST" --history h work q --quiet -j 2 -- true >>work.out 2>&1 &
	workers[$1]=$!
}
kill_one() {
	local i=$((RANDOM % 2))
	kill -9 "${workers[i]}"
	wait "${workers[i]}" 2>/dev/null
	killed=$((killed + 1))
	worker "$i"
}
settled() {
	local claims
	readpast sweep
	while mapfile -t claims < <(readpast --history h claim q -n 500 2>/dev/null | claims_of) &&
		((${#claims[@]})); do
		readpast --history h complete "${claims[@]}" >/dev/null
	done
	readpast stats q --json |
		jq -e '.scheduled + .ready + .blocked + .running == 0' >/dev/null
}

declare -a workers
killed=0
readpast queue set q --lease 2s --max-attempts 1000 --backoff 0s >/dev/null 2>&1
seq "$number" | jq -c '{name: "s\(.)", queue: "q", spec: "@yearly"}' | jq -sc . >schedules.json
check "$number schedules are added" status 0 readpast cron apply schedules.json
worker 0
worker 1
on_either "update readpast_schedule set next_at = cast((julianday('now') - 2440587.5) * 86400000 as integer) + 3000" \
	"update ${schema-}.schedule set next_at = clock_timestamp() + interval '3 s'"
sleep 2.7
end=$((SECONDS + 60))
while ((SECONDS < end)); do
	kill_one
	sleep "$((RANDOM % 2)).$((RANDOM % 5 + 4))"
	[[ $(not_fired) != 0 ]] || ((killed < 3)) || break
done
check 'all schedules have fired' equal "$(not_fired)" 0
kill "${workers[@]}"
wait "${workers[@]}" 2>/dev/null
check 'all jobs are done' eventually settled
check 'the history has no violation' status 0 readpast check h --left q
check 'by the history each instant fired once' grep -qE "^$number instants of $number schedules fired" out
check 'by the history no instant has two jobs' grep -q 'P3 ok, P6 ok, P7 ok$' out
latest=$(sed -nE 's/.*fired, the latest ([0-9]+) ms after its time/\1/p' out)
[[ -n $(sanitizer_of "$READPAST") ]] ||
	check 'the last schedule fired in time' test "${latest:-$((MOST_MS + 1))}" -le $MOST_MS
echo "# $number schedules due at once, $killed workers killed: the last fired after $latest ms"
finish
