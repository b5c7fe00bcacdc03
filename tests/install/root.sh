# root.sh - install the build into a staging directory. Sourced after tap.sh.
#
#   install_it     into $root
#   use_installed  $library; and pkg-config, which finds it
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors
# shellcheck shell=bash

# shellcheck disable=SC2154
root=$here/root

install_it() {
	# shellcheck disable=SC2154
	meson install -C "$build" --no-rebuild --quiet --destdir "$root"
}

use_installed() {
	library=$(find "$root" -name libreadpast.so.0)
	export PKG_CONFIG_PATH=${library%/*}/pkgconfig
	# The prefix in the .pc file does not include the staging directory.
	sed -i "s,^prefix=,&$root," "$PKG_CONFIG_PATH/readpast.pc"
}
