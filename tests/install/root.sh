# root.sh - install the build into a staging directory. Scripts source this file
# after tap.sh.
#
#   install_it     install the build into $root
#   use_installed  set $library, and let pkg-config find the library
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
	# The .pc file has the prefix without the staging directory, so add the directory.
	sed -i "s,^prefix=,&$root," "$PKG_CONFIG_PATH/readpast.pc"
}
