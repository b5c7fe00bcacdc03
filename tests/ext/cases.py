"""The functions that the tests of the loadable extension use: open a connection that
has loaded it, and run the cases of a file, with output as TAP.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import traceback

EXTENSION, READPAST = (os.path.abspath(path) for path in sys.argv[1:3])
SUITE = []


def case(function):
    SUITE.append(function)
    return function


def connect(path, **options):
    """Load the extension as a program does that has only Python's sqlite3 and the
    extension's file."""
    db = sqlite3.connect(path, **options)
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    db.enable_load_extension(False)
    return db


def one(db, sql, *args):
    return db.execute(sql, args).fetchone()[0]


def refused(db, sql, *args):
    """Return the message of the error that the statement raises."""
    try:
        db.execute(sql, args).fetchall()
    except sqlite3.Error as error:
        return str(error)
    raise AssertionError(f"{sql}: was not refused")


def readpast(path, *args):
    return subprocess.run([READPAST, "--db", f"sqlite:{path}", *args],
                          check=True, capture_output=True, text=True).stdout


def sanitized():
    """Return the sanitizer's runtime library that the extension needs, or None. The
    program must load this library before the extension."""
    needs = subprocess.run(["ldd", EXTENSION], check=True, text=True,
                           capture_output=True).stdout.split()
    wanted = [word for word in needs if word.startswith(("/", "lib"))
              and "asan" in word and "/" in word]
    return wanted[0] if wanted else None


def main():
    failed = 0
    runtime = sanitized()
    if runtime and "LD_PRELOAD" not in os.environ:
        os.environ["LD_PRELOAD"] = runtime
        # Python and the shell do not free all their memory. Other tests search for
        # leaks in the extension.
        os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    for number, function in enumerate(SUITE, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(pathlib.Path(folder) / "queue.db")
                word = "ok"
            except Exception:
                failed += 1
                word = "not ok"
                print("# " + traceback.format_exc().replace("\n", "\n# "))
        print(f"{word} {number} - {function.__name__}", flush=True)
    print(f"1..{len(SUITE)}")
    return failed > 0
