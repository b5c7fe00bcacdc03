#!/usr/bin/env bash
# Test a SQLite file on a file system that is mounted read-only. While a worker has the
# file open, commands that only read succeed. Other commands are refused, and say why.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

extension=$(readlink -f "$2")
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$(dirname "$0")/tap.sh"
if ((EUID != 0)) || ! unshare -m true 2>/dev/null; then
	echo '1..0 # SKIP only root can mount'
	exit 0
fi

# The directory `volume` is writable. isolated() mounts it read-only at `mounted`.
mkdir volume mounted
volume=sqlite:volume/x.db
export READPAST_DB=sqlite:mounted/x.db
# Run a command in a mount namespace of its own, with the volume mounted read-only.
isolated() {
	unshare -m sh -c 'mount --bind volume mounted &&
		mount -o remount,bind,ro mounted && exec "$@"' isolated "$@"
}

readpast --db $volume enqueue q a b --quiet
for command in stats 'list q' 'show 1' 'why 1' 'enqueue q x' 'work q --drain -- true' init; do
	# shellcheck disable=SC2086
	check "if no process has the file open, $command is refused with the reason" \
		refuses 1 'x.db is on a read-only file system, and no process that can write the file has it open' \
		isolated "$READPAST" $command
done
finds_disk() {
	status 1 isolated "$READPAST" doctor && grep -q '^trouble .*mounted/x.db: its file system is read-only' out && return
	cat out err
	return 1
}
check 'the doctor reports the file system' finds_disk
select="select readpast_enqueue('q', 'x')"
check 'the extension is refused, too' refuses 1 'is on a read-only file system' \
	hosted "$extension" isolated \
	sqlite3 -cmd ".load $extension" mounted/x.db "$select"

mkfifo hold
"$READPAST" --db $volume work q -- sh -c 'exec cat hold' >>log 2>&1 &
at_work() {
	[[ $(field state "$(readpast --db $volume show 1 --json)") == running ]]
}
check 'a worker has the file open' eventually at_work
for command in stats 'list q' 'show 1' 'why 1'; do
	# shellcheck disable=SC2086
	check "while a worker has the file open, $command reads it" isolated "$READPAST" $command
done
check 'the doctor still reports the file system' finds_disk
check 'enqueue cannot write the file' refuses 1 "readonly database: check the file's permissions and its file system" isolated "$READPAST" enqueue q x
finish
