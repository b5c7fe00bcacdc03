#!/usr/bin/env bash
# Test that the examples of docs/sqlite.md run, and that their results are those that
# the page states.
#
#   sqlite_page.sh READPAST EXTENSION SOURCE
#
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The readpast authors

extension=$(readlink -f "$2")
page=$(readlink -f "$3/docs/sqlite.md")
# shellcheck source-path=SCRIPTDIR source=../cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
PATH=$(dirname "$READPAST"):$PATH

# Print all blocks of the page that are in this language.
blocks() { # LANGUAGE
	awk -v begin="\`\`\`$1" '$0 == begin { inside = 1; next }
		/^```/ { inside = 0 } inside' "$page" |
		sed "s,/usr/local/lib/readpast,${extension%.so},"
}

blocks sh >page.sh
blocks python >page.py
blocks js >page.js
check 'the page has examples in each language' test -s page.sh -a -s page.py -a -s page.js

readpast --db sqlite:app.db init >/dev/null
check 'the examples in the shell run' bash -eu page.sh
check 'files in the directory get its group' equal "$(stat -c %a queue)" 2775
check 'the group may write the file' equal "$(stat -c %A queue/app.db | cut -c 6)" w
check 'both backups are databases' test -s backup.db -a -s smaller.db
check 'after the restore the ids before the backup are skipped' test "$(readpast --db sqlite:app.db enqueue q x)" -gt 1000000000
readpast --db sqlite:app.db purge q --state all --yes >/dev/null
check 'the examples in Python run' hosted "$extension" /usr/bin/python3 page.py
check 'the examples in Python leave the one job that is scheduled' \
	equal "$(sqlite3 app.db "select state, payload from readpast_jobs")" 'ready|too early'

# The example needs better-sqlite3, a package of npm. Tests do not download packages.
if node -e "require('better-sqlite3')" 2>/dev/null && [[ -z $(sanitizer_of "$extension") ]]; then
	check 'the example in Node runs' node page.js
	check 'the example in Node leaves no job' equal "$(sqlite3 app.db 'select count(*) from readpast_jobs')" 0
	check 'the example in Node has inserted its rows' equal "$(sqlite3 app.db 'select count(*) from orders')" 2
else
	echo '# the example in Node is not run: better-sqlite3 is not installed (NODE_PATH says where)'
fi

cat >names.py <<'END'
import re, sqlite3, sys
extension, page = sys.argv[1:]
db = sqlite3.connect("app.db")
db.enable_load_extension(True)
db.load_extension(extension)
known = {name for sql in ("select name from pragma_function_list",
                          "select name from pragma_module_list",
                          "select name from sqlite_master")
         for name, in db.execute(sql)}
named = set(re.findall(r"\breadpast_[a-z_]*[a-z]\b", open(page).read()))
assert "readpast_claim" in named
sys.exit(", ".join(named - known) or None)
END
check 'each function that the page names exists' hosted "$extension" /usr/bin/python3 names.py "$extension" "$page"
finish
