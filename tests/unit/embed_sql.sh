#!/bin/sh
# embed_sql.sh ROOT - test the errors that tools/embed_sql.py finds in SQL files, and
# their messages.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

set -u
root=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
number=0

# Begin a case with a fresh copy of the real SQL files.
fresh() {
	rm -rf "$dir/sql"
	cp -r "$root/sql" "$dir/sql"
}

embed() {
	python3 "$root/tools/embed_sql.py" "$what" ${list:+"$dir/sql/$list"} \
		${limits:+"$limits"} "$dir/out.c" "$dir/out.d" "$dir/sql/$folder" \
		2>"$dir/said"
}
limits=$root/include/readpast.h
folder=sqlite
what=dialect
list=params

# stops TITLE WORDS: a test case with this title. embed_sql must fail, and its message
# must be one line that contains WORDS.
stops() {
	number=$((number + 1))
	if ! embed && grep -qF -- "$2" "$dir/said" &&
		[ "$(wc -l <"$dir/said")" -eq 1 ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		sed 's/^/# /' "$dir/said"
	fi
}

echo "1..34"

fresh
number=1
if embed && grep -q rp__sql_sqlite "$dir/out.c" &&
	grep -qF "sql/sqlite/verbs/claim.sql" "$dir/out.d"; then
	echo "ok 1 - the real files are taken, and the build depends on each"
else
	echo "not ok 1 - the real files are taken, and the build depends on each"
	sed 's/^/# /' "$dir/said"
fi

fresh
echo 'select :apart;' >>"$dir/sql/sqlite/verbs/complete.sql"
stops 'a payload apart where there is no payload stops the build' \
	'complete.sql: uses :apart, which is not in sql/params'

fresh
rm "$dir/sql/sqlite/shared/dead_letter.sql"
stops 'a shared part that is missing stops the build' \
	'fail.sql: includes dead_letter, which is not in shared/'

fresh
printf '\n-- if @alive:\n-- the rest if @dead:\nselect 1;\n' >>"$dir/sql/sqlite/verbs/fail.sql"
stops 'a statement with two conditions stops the build' \
	'fail.sql: has a statement with two conditions, @alive and @dead'

fresh
rm "$dir/sql/sqlite/verbs/claim.sql"
stops 'a missing verb stops the build' 'claim.sql: is missing'

fresh
printf -- '-- grab: x\nselect 1;\n' >"$dir/sql/sqlite/verbs/grab.sql"
stops 'an unknown verb stops the build' 'grab.sql: is not in sql/params'

fresh
printf '\nupdate readpast_job set attempt = :nobody;\n' \
	>>"$dir/sql/sqlite/verbs/claim.sql"
stops 'an unknown parameter stops the build' \
	'claim.sql: uses :nobody, which is not in sql/params'

fresh
grep -v '^-- answer:$' "$root/sql/sqlite/verbs/get.sql" >"$dir/sql/sqlite/verbs/get.sql"
stops 'a verb that answers nothing and should stops the build' \
	'get.sql: needs'

fresh
printf '\n-- answer:\nselect 1;\n' >>"$dir/sql/sqlite/verbs/queue_set.sql"
stops 'a verb that answers and should not stops the build' \
	'queue_set.sql: needs'

fresh
sed -i '1s/claim/grab/' "$dir/sql/sqlite/verbs/claim.sql"
stops 'a wrong first line stops the build' \
	'claim.sql: does not open with'

fresh
printf -- '-- Schema 3\nselect 1;\n' >"$dir/sql/sqlite/schema/003_gap.sql"
stops 'a step of the schema left out stops the build' \
	'003_gap.sql: must be step 002'

fresh
sed -i '/^queues_after /s/id name/name id/' "$dir/sql/params"
stops 'columns in another order stop the build' \
	'queues_after.sql: returns id name, but sql/params lists name id'

fresh
sed -i '/^job = /s/id queue:text/queue:text id/' "$dir/sql/params"
stops 'fields of a job in another order stop the build' \
	'returns id queue state'

fresh
sed -i '/^list_line /s/job payload_total/payload_total job/' "$dir/sql/params"
stops 'the columns of a job behind others stop the build' \
	'must come first'

fresh
sed -i '/^alike each:/s/purge/bury/' "$dir/sql/params"
stops 'verbs that are alike, and one of them unknown, stop the build' \
	'alike each: unknown verb bury'

fresh
echo 'now read -> now' >>"$dir/sql/params"
stops 'a verb that is listed twice stops the build' 'now: must'

fresh
sed -i 's/^sweep_rest .*/sweep_rest sometimes/' "$dir/sql/params"
stops 'a mode that is neither read nor write stops the build' \
	'sweep_rest: must'

folder=postgres
fresh
number=$((number + 1))
cat >"$dir/sql/postgres/schema/002_more.sql" <<'END'
-- Schema 2: a body keeps its blank lines, comments and semicolons.
-- Its comment does not.
create function x() returns void as $x$
begin

-- inside
	perform 1;
end
$x$;

select 2;
END
if embed && grep -q rp__calls_postgres "$dir/out.c" &&
	grep -qF '"-- inside\n"' "$dir/out.c" &&
	grep -qF '"	perform 1;\n"' "$dir/out.c" &&
	! grep -q 'Its comment' "$dir/out.c" &&
	grep -qF 'schema/002_more.sql' "$dir/out.d"; then
	echo "ok $number - the body of a routine is left alone"
else
	echo "not ok $number - the body of a routine is left alone"
	sed 's/^/# /' "$dir/said"
fi

fresh
(cd "$dir/sql/postgres/verbs" && rm settle_and_claim.sql register_waiter.sql \
	unregister_waiter.sql held.sql await.sql unawait.sql fire_due.sql)
stops 'a folder without settle_and_claim needs its verbs' 'admit.sql: is missing'

fresh
printf -- '-- claim: x\nselect 1;\n' >"$dir/sql/postgres/verbs/claim.sql"
stops 'settle_and_claim and one of the six stop the build' \
	'claim.sql: is for the other kind'

fresh
sed -i '/^settle_and_claim /s/number result/result number/' "$dir/sql/params"
stops 'columns in another order stop the build there too' \
	'settle_and_claim.sql: returns number result'

fresh
echo 'select 1;' >>"$dir/sql/postgres/verbs/get.sql"
stops 'two statements where there are routines stop the build' \
	'get.sql: has 2 statements'

fresh
sed -i 's/:queue\b/:nobody/' "$dir/sql/postgres/verbs/probe.sql"
stops 'an unknown parameter stops the build there too' \
	'probe.sql: uses :nobody, which is not in sql/params'

fresh
sed -i 's/:most_key/:most_kex/' "$dir/sql/postgres/schema/001_first/4_enqueue/check_job.sql"
stops 'a limit that readpast.h does not have stops the build' \
	'check_job.sql: uses :most_kex, which is no limit of readpast.h'

fresh
number=$((number + 1))
sed 's/\(RP_MOST_PRIORITY\) 255/\1 77/' "$root/include/readpast.h" >"$dir/other.h"
limits=$dir/other.h
if embed && grep -qF 'priority % is not within 0..77' "$dir/out.c" &&
	! grep -q ':most_' "$dir/out.c"; then
	echo "ok $number - the limits in SQL are those of readpast.h"
else
	echo "not ok $number - the limits in SQL are those of readpast.h"
	sed 's/^/# /' "$dir/said"
fi

what=lab
limits=
list=techniques
fresh
number=$((number + 1))
if embed && grep -q 'scripts_postgres' "$dir/out.c" &&
	grep -qF 'lab/merge.sql' "$dir/out.d" &&
	grep -q 'queueid = @id' "$dir/out.c"; then
	echo "ok $number - the scripts of the lab"
else
	echo "not ok $number - the scripts of the lab"
	sed 's/^/# /' "$dir/said"
fi

rm "$dir/sql/postgres/lab/merge.sql"
stops 'a technique that a database lacks stops the build' \
	'lab/merge.sql: is missing'

fresh
printf -- '-- fifo: x\n' >"$dir/sql/postgres/lab/fifo.sql"
stops 'one that is not listed stops the build' \
	'fifo.sql: is not in sql/techniques'

fresh
sed -i 's/^-- take:/-- taek:/' "$dir/sql/postgres/lab/naive.sql"
stops 'a section that nobody runs stops the build' \
	'naive.sql: has the unknown section taek'

fresh
sed -i 1d "$dir/sql/postgres/lab/naive.sql"
stops 'a script without its story stops the build' \
	'naive.sql: does not open with'

what=queries
list=
fresh
number=$((number + 1))
if embed && grep -qF '"postgres", "doctor", "late",' "$dir/out.c" &&
	grep -qF '"postgres", "stress", "counters",' "$dir/out.c" &&
	grep -q ':long_ms' "$dir/out.c" &&
	grep -qF 'doctor/late.sql' "$dir/out.d"; then
	echo "ok $number - the queries of commands, as they are"
else
	echo "not ok $number - the queries of commands, as they are"
	sed 's/^/# /' "$dir/said"
fi

fresh
sed -i 's/:long_ms/:lnog_ms/' "$dir/sql/postgres/doctor/late.sql"
stops 'a question with a name that the doctor does not give stops the build' \
	'late.sql: uses :lnog_ms, which is not'

fresh
echo 'select 1;' >>"$dir/sql/postgres/doctor/late.sql"
stops 'a question of two statements stops the build' \
	'late.sql: has 2 statements'

fresh
rm -r "$dir/sql/postgres/doctor" "$dir/sql/postgres/find" "$dir/sql/postgres/stress"
number=$((number + 1))
if embed && ! grep -qF '"postgres"' "$dir/out.c"; then
	echo "ok $number - a database may have none"
else
	echo "not ok $number - a database may have none"
	sed 's/^/# /' "$dir/said"
fi
