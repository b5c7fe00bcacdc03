#!/usr/bin/env bash
# Test a server that cannot find the address at which a client reached it.
#
#   no_names.sh READPAST LIBRARY   LIBRARY is the one built from no_names.c
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

library=$(readlink -f "$2")
# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"

# Print the status of the answer to a request with this header Host.
status_for() {
	exec 4<>"/dev/tcp/${address%:*}/${address#*:}"
	printf 'GET /healthz HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$1" >&4
	awk '{ print $2; exit }' <&4
}

exec 3< <(LD_PRELOAD="$(sanitizer_of "$READPAST") $library" \
	exec timeout 60 "$READPAST" serve --listen 127.0.0.1:0 --host queue.example.com)
server=$!
read -r -u 3 line
address=${line#*//}
address=${address%/}
check 'a foreign host is refused' equal "$(status_for evil.example.com)" 421
check 'a name of --host is taken' equal "$(status_for queue.example.com)" 200
kill "$server"
finish
