#!/usr/bin/env bash
# The example that moves money: whoever is killed, each job moves 1 once.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

transfer=$(readlink -f "$2")
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
jobs=3000

account() {
	sqlite3 bank.db "select money from account where name = '$1'"
}

moved_more_than() {
	(($(account b) > $1))
}

export READPAST_DB=sqlite:bank.db
sqlite3 bank.db "create table account (name, money);
	insert into account values ('a', $jobs), ('b', 0)"
readpast init >/dev/null
seq $jobs | readpast enqueue transfers --quiet

# Three workers; one is killed each time that some more was moved.
for i in 1 2 3 4 5 6; do
	"$transfer" &>worker-$i.log & victims[i]=$!
	((i < 3)) && continue
	check "the workers go on after $((i - 3)) kills" \
		eventually moved_more_than $((i * 150))
	kill -9 "${victims[i - 2]}"
	wait "${victims[i - 2]}" 2>/dev/null
done
wait "${victims[5]}" && wait "${victims[6]}"
check 'the last two workers end when all is done' equal $? 0
check 'the one account has nothing left' equal "$(account a)" 0
check 'the other one has it all, nothing twice' equal "$(account b)" $jobs
check 'no job is left' equal "$(sqlite3 bank.db 'select count(*) from readpast_jobs')" 0
finish
