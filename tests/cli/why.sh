#!/usr/bin/env bash
# why.sh READPAST sqlite:|postgres: - test the command `why`, and each reason that it
# gives.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
on_database "$2"

says() { # ID PATTERN...: why prints one line that matches all patterns
	local id=$1 said pattern
	shift
	said=$(readpast why "$id") || return 1
	(($(wc -l <<<"$said") == 1)) || return 1
	for pattern; do
		grep -qE -- "$pattern" <<<"$said" || {
			echo "no '$pattern' in: $said"
			return 1
		}
	done
}
reason() {
	field reason "$(readpast why "$1" --json)"
}
is() { # ID REASON
	equal "$(reason "$1")" "$2"
}

check 'why without a job prints the usage: exit 2' refuses 2 'which jobs' readpast why
check 'a word in place of an id is refused: exit 2' refuses 2 "expected a job's id" readpast why x
readpast queue set q --keep-done 1h >/dev/null
check 'why for a missing job exits with 3 and gives the reason' refuses 3 '99999: this id was never given to a job' readpast why 99999

late=$(readpast enqueue q late --delay 1h)
check 'why says when a scheduled job is due' says "$late" 'not due until .*\(in 59m\)'
check 'the JSON says that the job is not due' is "$late" 'not due'
first=$(readpast enqueue q a)
second=$(readpast enqueue q b)
check 'why says that no worker serves the queue' says "$first" 'no other job ahead' 'No worker serves queue q'
check 'the JSON says that there is no worker' is "$first" 'no worker'
check 'why counts the earlier jobs in line' says "$second" 'behind 1 job of'
readpast enqueue q urgent urgent --priority 3 --quiet
check 'why counts the jobs of a higher priority' says "$second" 'behind 3 jobs'
seq 1100 | readpast enqueue q --priority 9 --quiet
check 'why counts jobs up to a limit' says "$second" 'behind at least 1000 jobs'
readpast pause q
check 'why says that the queue is paused' says "$second" 'Queue q has been paused since .* ago.*readpast resume q'
check 'the JSON says that the queue is paused' is "$second" paused
readpast pause q --reason 'the mail server moves'
check 'why says with what reason the queue is paused' says "$second" 'Queue q has been paused since .* ago., "the mail server moves"; readpast resume q'
check 'the JSON has the reason' equal "$(field pause_reason "$(readpast why "$second" --json)")" 'the mail server moves'
check 'why says that the queue of a scheduled job is paused' says "$late" 'not due' 'has been paused'
readpast resume q
# A remedy is a command that a user pastes into a shell.
readpast queue set "it's; \$(touch P) ?" --group-limit 1 >/dev/null
odd=$(readpast enqueue "it's; \$(touch P) ?" x --group 'a b')
pasted() { # COMMAND...: the command that why prints for this job has these arguments
	local said words
	said=$(readpast why "$odd" | grep -oE "readpast ($1) .*$2") || return 1
	eval "words=(${said% "$2"})"
	equal "$(printf '%s,' "${words[@]:2}")" "$3"
}
check 'the name of a queue is quoted in a command' pasted work '-- COMMAND' "it's; \$(touch P) \\?,"
readpast pause "it's; \$(touch P) ?"
check '... also to resume it' pasted resume 'ends the pause' "it's; \$(touch P) ?,"
readpast hold "it's; \$(touch P) ?" --group 'a b' --for 1h
check '... and the name of a group' pasted hold '--clear' "it's; \$(touch P) ?,--group,a b,"
check 'work quotes names when it begins' grep -qF "readpast resume 'it'\\''s; \$(touch P) ?' ends the pause" \
	<(readpast work "it's; \$(touch P) \\?" --max-jobs 1 --drain -- true 2>&1)
readpast resume "it's; \$(touch P) ?"
readpast purge "it's; \$(touch P) ?" --state all --yes >/dev/null
check 'no name was run by a shell' test ! -e P
check 'of several jobs the worst exit status counts' refuses 3 'id 99999' readpast why "$first" 99999 "$second"

r=$(readpast enqueue r a)
claim=$(claim_of "$(readpast claim r --lease 1h)")
check 'why says that a client has claimed the job' says "$r" 'a client that is not a worker has held it since' 'attempt 1 of 3' 'until .*in 59m\)\.'
readpast extend "$claim" --lease 2h
readpast extend "$claim" --lease 2h
check 'why says how often the lease was renewed' says "$r" 'renewed 2 times'
readpast fail "$claim" --error 'it broke' --retry-in 1h
check 'why says that the job waits for its backoff, with the error' says "$r" 'backoff until .*in 59m' 'attempt 1 of 3 failed: it broke'
check 'the JSON says that the job waits for its backoff' is "$r" backoff
readpast cancel "$r"
check 'why says that the job was cancelled' says "$r" 'was cancelled at' "readpast retry $r"
late=$(readpast enqueue late x --expire 1ms)
soon=$(readpast enqueue late x --expire 1h)
sleep 0.01
check 'why says until when the job has to start' says "$soon" 'If it has not started by .* \(in 59m' 'it is cancelled'
check 'why says that the job has expired, before a sweep' says "$late" 'It expired at' 'no claim takes it'
readpast sweep >/dev/null
check 'why says that the job has expired, after a sweep' says "$late" 'was cancelled at' 'it expired, because no worker claimed it before'
check 'show says that the job has expired' grep -q '^last error    expired$' <(readpast show "$late")
readpast retry "$r"
claim=$(claim_of "$(readpast claim r)")
check 'the lease of the next claim was never renewed' equal "$(field renewed "$(readpast why "$r" --json)")" 0
readpast release "$claim" --delay 1h
check 'a released job with a delay is not due, and has no backoff' is "$r" 'not due'
d=$(readpast enqueue r dead)
readpast fail "$(claim_of "$(readpast claim r)")" --for-good --error 'no use'
check 'why says that the job is dead, with the error' says "$d" 'has been dead since .*failed for good, attempt 1 of 3: no use' "readpast retry $d"
readpast queue set r --keep-done 1h >/dev/null
d=$(readpast enqueue r finished)
readpast complete "$(claim_of "$(readpast claim r)")"
check 'why says that the job was done' says "$d" 'was done at'

# Start a worker whose handler blocks, and enqueue a second job.
w=$(readpast enqueue w held)
mkfifo hold
start_worker w --lease 900ms
check 'a worker runs the job' eventually is "$w" running
check 'why says which worker runs the job, and on which host' says "$w" "worker .*:$worker on host $(uname -n) \(process $worker\) has held it"
renewed() { (($(field renewed "$(readpast why "$w" --json)") >= 2)); }
check 'the worker renews the lease' eventually renewed
[[ $2 == sqlite: ]] && table=readpast_worker || table=$schema.worker
sql "update $table set host = 'a' || $([[ $2 == sqlite: ]] && echo char || echo chr)(27) || 'b'"
check 'control characters of a host are escaped' says "$w" 'on host a\\x1bb \(process'
sql "update $table set host = '$(uname -n)'"
n=$(readpast enqueue w waits)
check 'why says that the job is the next in line' says "$n" 'no other job ahead' 'as soon as a worker is free; 1 worker can run it'
check 'the JSON says that the job is the next' is "$n" next
kill_worker
check 'why says that the lease of a dead worker is over' eventually is "$w" 'lease over'
check 'why says that a sweep will make the job ready' says "$w" 'ran out at .* ago\)' 'sweep\) the job becomes ready again'
readpast sweep >/dev/null
came_back="came back because worker .*:$worker on host $(uname -n) had not been heard from since 20.*Z; attempt counted"
check 'why says how the job has become ready again' says "$w" "It $came_back \(1 of 3\)"
shows() { readpast show "$1" | grep -qE "$2"; }
check 'show says how the job has become ready again' shows "$w" "^note  *$came_back$"
readpast claim w --lease 1ms >/dev/null
sweeps() { [[ $(readpast sweep) == *' 1 recovered,'* ]]; }
check "a lease of a client runs out, too" eventually sweeps
check 'why says that a suspect runs alone' says "$w" 'a client that is not a worker had not been heard from since' '\(2 of 3\)' 'only a worker that holds no other job can claim it'

# A worker that holds a long lease is killed, so its heartbeats stop. Instead of waiting
# for a minute, the test sets the last heartbeat back by a minute.
s=$(readpast enqueue s held --max-attempts 1)
start_worker s --lease 1h
check 'another worker runs a job' eventually is "$s" running
kill_worker
age_workers 60
check 'why says that the worker has sent no heartbeat' says "$s" 'not been heard from for 6[0-9]s' 'If that worker is gone' 'the job becomes dead'
check 'the JSON says that the worker is silent' is "$s" silent
check 'a silent worker does not count as serving its queue' says "$(readpast enqueue s more)" 'No worker serves queue s'
age_workers 3600
readpast sweep >/dev/null
check 'why says that the worker of the job is no longer in the list' says "$s" 'a worker that has not been seen for an hour has held it'

# ---- jobs of schedules ----

schedule() { # NAME FIELD
	readpast cron list "$1" --json | jq -r ".$2"
}
backdate() { # NAME SECONDS
	case $READPAST_DB in
	sqlite:*) sql "update readpast_schedule set next_at = next_at - $2 * 1000 where name = '$1'" ;;
	*) sql "update $schema.schedule set next_at = next_at - $2 * interval '1 second' where name = '$1'" ;;
	esac
}
readpast cron add s tick 'every 1m' --overlap skip >/dev/null
backdate tick 61
readpast sweep
tick=$(schedule tick last_job_id)
at=$(schedule tick last_at)
check 'why prints the schedule that made the job, and the instant' says "$tick" \
	"It was made by schedule tick for ${at%%.*}.* \\([0-9a-z]+ ago\\)\\.\$"
check 'the JSON has the schedule, the instant, and whether it was manual' equal "$(readpast why "$tick" --json | jq -c '[.schedule, .scheduled_for[0:19], .missed, .manual]')" \
	"[\"tick\",\"${at:0:19}\",null,false]"
backdate tick 61
readpast sweep
check 'cron list says why the next instant has no job' grep -q ": job $tick was still live" <(readpast cron list tick)
readpast cron add s often '* * * * *' >/dev/null
backdate often 300
readpast sweep
check 'why says how many instants were missed' says "$(schedule often last_job_id)" 'made by schedule often for .*; instants missed: [3-6]\.$'
run=$(readpast cron run often)
check 'why says that cron run made the job' says "$run" 'readpast cron run made it for schedule often, at .* ago'
check 'the JSON says that the job is manual' equal "$(readpast why "$run" --json | jq -r .manual)" true
check 'the JSON of a job that no schedule made has no schedule' equal "$(readpast why "$first" --json | jq -r .schedule)" null
finish
