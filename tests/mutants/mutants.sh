#!/usr/bin/env bash
# Test that `readpast stress` detects mutants. A mutant is a copy of readpast without
# some code on which a promise of docs/design.md depends. `stress` must fail and name
# the broken promise. Under the same load it must find nothing wrong with the unmodified
# program.
#
#   mutants.sh READPAST SOURCE sqlite: [postgres:]
#
# Each patch is applied to a copy of the source. Only the command line is built,
# statically linked, so that it cannot use another library.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

source=$(readlink -f "$2")
# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"

databases=" ${*:3} "
server=
if [[ $databases == *' postgres: '* ]]; then
	server=${READPAST_TEST_POSTGRES:?names the server}
fi
schema=mutant_$$
drop_schemas() {
	[[ $server ]] || return
	psql -qAtX "$server" >/dev/null 2>&1 <<-END
		$(printf "drop schema if exists ${schema}_%s cascade;\n" "${!loads[@]}")
	END
}
# shellcheck disable=SC2046
trap 'kill $(jobs -p) 2>/dev/null; drop_schemas; cd /; rm -rf "$here"' EXIT

mkdir copy
for part in "$source"/*; do
	[[ $part == "$source"/build* ]] || cp -r "$part" copy
done
build() {
	[[ -e mutant ]] || meson setup mutant copy -Dbuildtype=plain -Ddefault_library=static \
		"-Dpostgres=$([[ $server ]] && echo enabled || echo disabled)" >log 2>&1 || return
	ninja -C mutant cli/readpast >log 2>&1 && return
	tail -n 20 log
	return 1
}

# The load for each mutant. For the mutant `fence`, many verdicts come after the end of
# the lease. For `lease`, jobs run for longer than a second, so that a sweep comes while
# they run. For `claim`, many workers claim at the same time. For `no_admission`, all jobs
# are enqueued before the first job runs, so that no later enqueue admits a waiting job.
# For `no_request`, the last job of a group often ends while another job is enqueued.
declare -A loads=(
	[fence]='--jobs 100 --workers 6 -j 2 --work-time 400ms --lease 1s --stall-every 600ms'
	[lease]='--jobs 60 --workers 8 -j 2 --work-time 1300ms --lease 2s --fail-rate 0.2'
	[claim]='--jobs 10k --workers 4 -j 4 --batch 10'
	[no_admission]='--jobs 100 --groups 10 --group-limit 1 --fill --lease 1s'
	[unlocked]='--jobs 400 --workers 4 -j 4 --producers 4 --batch 1 --groups 30 --group-limit 1 --limit 3 --work-time 3ms'
	[no_request]='--jobs 1k --workers 2 -j 4 --producers 4 --batch 1 --groups 50 --group-limit 1 --lease 1s'
	[skip]='--jobs 300 --groups 5 --group-limit 1 --fill'
	[window]='--jobs 200 --rate 50/400ms --workers 2'
)

# stress PROGRAM WHICH DATABASE: run `PROGRAM stress` with the load WHICH, and write its
# output to out-DATABASE. If a run fails and takes more than 40 s, the last line of that
# file says so.
stress() {
	local url="$server&schema=${schema}_$2" from=$SECONDS status
	[[ $3 == sqlite ]] && url="sqlite:$2.db"
	"$1" --db "$url" init >/dev/null 2>&1
	# shellcheck disable=SC2086
	timeout 90 "$1" --db "$url" stress ${loads[$2]} --seed $seed >"out-$3" 2>&1
	status=$?
	((status == 0 || SECONDS - from <= 40)) || echo "it took $((SECONDS - from)) s" >>"out-$3"
	return $status
}

# Run `PROGRAM stress` on all named databases, which are new, at the same time. Sets
# of_sqlite and of_postgres to the exit statuses.
run() { # PROGRAM WHICH DATABASE...
	local -A pids=()
	local db
	rm -f "$2".db*
	drop_schemas
	for db in "${@:3}"; do
		stress "$1" "$2" "$db" &
		pids[$db]=$!
	done
	for db in "${@:3}"; do
		wait "${pids[$db]}"
		printf -v "of_$db" %s $?
	done
}

shows() { # DATABASE STATUS PATTERN
	local got=of_$1
	((${!got} == $2)) && grep -qE "$3" "out-$1" && ! grep -q '^it took' "out-$1" && return
	echo "exit status ${!got}; $(cat "out-$1")"
	return 1
}

# Returns 0 if the last run, or one of two more, shows that the mutant breaks its promise.
# On a busy machine a mutant may be lucky once.
detected() { # DATABASE NAME SAYS
	local seed
	for seed in 8 9; do
		shows "$1" 1 "$3" >/dev/null && return
		run "$here/mutant/cli/readpast" "$2" "$1"
	done
	shows "$1" 1 "$3"
}

# Run a mutant on each DATABASE that is available. SAYS is a pattern for the output in
# which `stress` names the broken promise.
mutant() { # NAME SAYS DATABASE...
	local name=$1 says=$2 seed=7 db on=()
	for db in "${@:3}"; do
		[[ $databases != *" $db: "* ]] || on+=("$db")
	done
	((${#on[@]})) || return
	set -- "${on[@]}"
	run "$READPAST" "$name" "$@"
	for db in "$@"; do
		check "$db, the unmodified program: $name holds" shows "$db" 0 '^P1 ok, P2 ok, P3 ok, P6 ok(, P1[0-3] ok)*$'
	done
	check "the patch of the mutant applies: $name" patch -s -d copy -p1 -i "$source/tests/mutants/$name.patch"
	check 'the mutant is built' build
	run "$here/mutant/cli/readpast" "$name" "$@"
	for db in "$@"; do
		check "$db: stress detects the mutant $name" detected "$db" "$name" "$says"
	done
	patch -s -R -d copy -p1 -i "$source/tests/mutants/$name.patch"
}

early='P2 job [0-9]+: claim [0-9]+ was answered [0-9]+ us before the lease of claim [0-9]+ was over'
late='P3 job [0-9]+: a verdict \(.*\) on claim [0-9]+ was accepted after claim [0-9]+ was handed out'
check 'the unmodified program is built' build
mutant fence "$late" sqlite postgres
mutant lease "$early" sqlite postgres
# In this mutant two claims can take the same job. On SQLite they cannot, because writers
# take turns.
mutant claim "$early" postgres
mutant no_admission 'P13 group g[0-9]+ waits, although no job of the group runs or may run' sqlite postgres
# In this mutant nothing locks the group while its jobs are counted. So too many jobs of
# the group may run, or none is admitted.
mutant unlocked 'P10 job [0-9]+: claim [0-9]+ was given while [0-9]+ other jobs of .* ran|P13 group g[0-9]+ waits' postgres
# This mutant stores no request to look at a group again. On SQLite an enqueue sees all
# jobs that have ended, so no such request is needed there.
mutant no_request 'P13 group g[0-9]+ waits' postgres
mutant skip 'P11 job [0-9]+ of group g[0-9]+ .* was claimed although job [0-9]+ was before it' sqlite postgres
mutant window 'P12 job [0-9]+: claim [0-9]+ is start number 51 of queue' sqlite postgres
finish
