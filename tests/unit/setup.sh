#!/usr/bin/env bash
# Test that tools/setup lists the packages before it installs them, and that `make`
# needs only the packages that the build needs.
#
#   setup.sh READPAST SOURCE
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

source=$(readlink -f "$2")
# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"

# Simulate a machine without any package and without a network. A call of apt-get saves
# the text that setup has printed up to then.
mkdir bin
printf '#!/bin/sh\n' >bin/dpkg-query
printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
printf '#!/bin/sh\ncp said said.before; echo E: no network; exit 1\n' >bin/apt-get
chmod +x bin/*

setup() {
	rm -f said.before
	PATH=$here/bin:$PATH "$source/tools/setup" "$@" >said 2>&1
	[[ -s said.before ]] && return
	cat said
	return 1
}
names() { # PACKAGE...: these packages were listed before anything was installed
	for package; do
		grep -qw -- "$package" said.before && continue
		cat said.before
		return 1
	done
}

check 'without any package setup installs packages' setup
check 'setup lists the packages before it installs them' names meson libsqlite3-dev libjansson-dev libpq-dev
check 'packages that only tests need are not installed' status 1 names libcmocka-dev
check 'setup --test installs packages' setup --test
check 'setup --test lists the packages that tests need' names libcmocka-dev sqlite3 jq curl postgresql
setup --no-postgres
check '--no-postgres leaves out libpq' status 1 names libpq-dev
finish
