#!/usr/bin/env bash
# Test several users of one SQLite file. A user who has only the right to read the file
# must not block writers.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
if ((EUID != 0)); then
	echo '1..0 # SKIP only root can run programs as several users'
	exit 0
fi

# Copy the program and its library to a place where every user can run them.
mkdir bin queue
cp "$READPAST" bin/
cp "$(ldd "$READPAST" | awk '$1 ~ /^libreadpast/ { print $3 }')" bin/
chmod 755 . bin
chmod 1777 queue
cd queue || exit 1
export READPAST_DB=sqlite:q.db
db=$PWD/q.db
owner=1
reader=65534
stranger=2
groups=--clear-groups
as() {
	local user=$1
	shift
	setpriv --reuid="$user" --regid="$user" $groups \
		env LD_LIBRARY_PATH="$here/bin" "$@"
}
# work_as USER QUEUE: start a worker. Sets $worker to the pid of the worker itself, not
# of a shell. Each user needs a QUEUE of its own, because has_worker() finds workers by
# their queue, and killed workers stay in the list of workers.
work_as() {
	(exec setpriv --reuid="$1" --regid="$1" $groups env \
		LD_LIBRARY_PATH="$here/bin" "$here/bin/readpast" work "$2" -- true) >/dev/null 2>&1 &
	worker=$!
}
# has_worker USER QUEUE: a worker of the queue is in the list that the user sees
has_worker() {
	readpast_as "$1" workers | grep -q "$2"
}
readpast_as() {
	local user=$1
	shift
	as "$user" "$here/bin/readpast" "$@"
}
# looks COMMAND...: the command succeeds. `doctor` may fail, but only if it reports a
# queue that no worker serves.
looks() {
	status 0 "$@" || grep -q '"check":"nobody"' out
}
owners() {
	stat -c '%n %u' q.db q.db-[sw][ha][ml] 2>/dev/null | sort | paste -sd' '
}
alone="q.db $owner"
together="q.db $owner q.db-shm $owner q.db-wal $owner"

readpast_as $owner enqueue q a b c --quiet
for command in stats 'list q' 'show 1' 'why 1' workers doctor 'queue list' 'enqueue q x'; do
	# shellcheck disable=SC2086
	check "a reader is refused while no process has the file open: $command" \
		refuses 1 'you may not write this file.*as its owner, or while a worker runs, or read a copy' \
		readpast_as $reader $command
done
check 'no command of the reader has left a file' equal "$(owners)" "$alone"
check 'the owner can still enqueue' readpast_as $owner enqueue q d --quiet

chmod 700 .
for command in stats 'enqueue q x' init; do
	# shellcheck disable=SC2086
	check "a reader that may not enter the folder is refused: $command" \
		refuses 1 "cannot open database $db: permission denied" readpast_as $reader --db sqlite:$db $command
done
chmod 755 .
check 'the reader is refused as well if it cannot write the folder' \
	refuses 1 'you may not write this file' readpast_as $reader stats
check 'a new database cannot be made in a folder that the reader cannot write' refuses 1 'cannot open database new.db: permission denied' \
	readpast_as $reader --db sqlite:new.db init
chmod 1777 .

work_as $owner owned
check 'the owner runs a worker' eventually has_worker $owner owned
for command in stats 'list q' 'show 1' 'why 1' workers 'doctor --json'; do
	# shellcheck disable=SC2086
	check "while the worker runs, a reader can run $command" looks readpast_as $reader $command
done
check 'a file that the reader may not write is no trouble' \
	equal "$(readpast_as $reader doctor --json | grep -c trouble)" 0
check 'the reader cannot enqueue' refuses 1 'readonly' readpast_as $reader enqueue q x
check 'all files belong to the owner' equal "$(owners)" "$together"
kill_worker
check 'a reader can read after the worker was killed' status 0 readpast_as $reader stats
check 'the owner can still enqueue after that' readpast_as $owner enqueue q e --quiet

readpast stats >/dev/null
check 'commands of root leave no file of root' equal "$(owners)" "$alone"
work_as 0 rooted
check 'root runs a worker' eventually has_worker 0 rooted
check 'while the worker of root runs, all files belong to the owner' equal "$(owners)" "$together"
kill -TERM $worker
wait $worker

# A user reads the file with sqlite3, which creates -wal and -shm as that user.
as $reader sqlite3 q.db 'select 1 from readpast_job' >/dev/null
check '-wal and -shm belong to another user' equal "$(owners)" \
	"q.db $owner q.db-shm $reader q.db-wal $reader"
check 'files of another user stop the owner, and the message names the file' \
	refuses 1 'q.db-wal belongs to another user.*readpast doctor' readpast_as $owner enqueue q f
found() {
	status 1 readpast_as "$1" doctor || return 1
	grep -q "^trouble .*$db-wal belongs to nobody" out &&
		grep -q "fix: .*chown --reference=$db $db-shm" out && return
	cat out
	return 1
}
check 'the doctor reports these files' found $owner
check 'the doctor of another user reports these files' found $stranger
chmod 600 q.db-wal
check 'the doctor reports the files even if they prevent opening the database' found $owner
check 'the doctor of another user reports the files then, too' found $stranger
chown --reference=q.db q.db-wal q.db-shm
check 'after the fix the owner can enqueue' readpast_as $owner enqueue q f --quiet
readpast_as $owner doctor --json >out
check 'after the fix the finding is gone' equal "$(grep -c '"check":"owner"' out)" 0
check 'no job was lost' equal "$(readpast_as $owner list q | grep -c ready)" 6

# The users share the file through a group.
mkdir ../group
chgrp 100 ../group
chmod 2770 ../group
cd ../group || exit 1
groups=--groups=100
readpast_as 1 init >/dev/null
as 1 chmod 660 q.db
work_as 1 shared
check 'a member of the group runs a worker' eventually has_worker 1 shared
check 'another member of the group enqueues' readpast_as 2 enqueue q b --quiet
readpast_as 2 doctor --json >out
check 'the doctor reports nothing about these files' \
	equal "$(grep -c '"check":"owner"' out)" 0
kill -TERM $worker
wait $worker
finish
