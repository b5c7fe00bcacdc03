#!/usr/bin/env bash
# What `meson install` leaves: examples build against it with pkg-config alone,
# name the library by its soname, and run; the manual and the rest are there.
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

build=$(readlink -f "$2")
source=$(readlink -f "$3")
# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
root=$here/root

install_it() {
	meson install -C "$build" --no-rebuild --quiet --destdir "$root"
}

there() { # PATTERN: such a file was installed
	[[ $(find "$root" -path "*$1" -not -type d) ]]
}

compile() { # EXAMPLE [FLAG...]
	local name=$1
	shift
	# What is asked of pkg-config is several words.
	# shellcheck disable=SC2046
	cc -std=gnu99 -Wall -Werror "$@" -o "$name" "$source/examples/$name.c" \
		$(pkg-config --cflags --libs readpast)
}

needs() {
	objdump -p "$1" | grep -q "NEEDED *$2\$"
}

# An installed program finds the library where it was installed to, unless
# that is elsewhere today.
run() {
	LD_LIBRARY_PATH=$(dirname "$library"):${LD_LIBRARY_PATH:-} "$@"
}

check 'it installs' install_it
library=$(find "$root" -name libreadpast.so.0)
PKG_CONFIG_PATH=$(dirname "$library")/pkgconfig
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$root
# A sanitizer in the library wants to be in the program too.
flags=()
for sanitizer in asan:address tsan:thread; do
	needs "$library" "lib${sanitizer%:*}.so.*" && flags+=("-fsanitize=${sanitizer#*:}")
done

check 'its soname' equal "$(objdump -p "$library" | awk '/SONAME/ { print $2 }')" libreadpast.so.0
check 'its version' equal "$(pkg-config --modversion readpast)" "$(run "$root"/*/*/bin/readpast version | awk '{ print $2 }')"
check 'the manual' there '/man1/readpast.1'
check 'of the library' there '/man3/readpast.3'
check 'of the model' there '/man7/readpast.7'
check 'completion' there '/bash-completion/completions/readpast'
check 'the extension' there '/readpast.so'
for name in enqueue worker; do
	check "the example $name builds" compile "$name" "${flags[@]}"
	check "$name names the library by its soname" needs "$name" 'libreadpast\.so\.0'
done
check 'a job for each line' equal "$(printf 'a\nb\nc' | run ./enqueue sqlite:queue.db words | paste -sd' ')" '1 2 3'
check 'each is worked on' equal "$(run ./worker sqlite:queue.db words | sort | paste -sd' ')" 'a b c'
check 'none is left' equal "$(run ./worker sqlite:queue.db words)" ''
check 'wrong arguments' status 1 run ./enqueue
check 'no such database' status 1 run ./worker sqlite:not/there.db words
finish
