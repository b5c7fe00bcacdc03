"""The functions that the command line tests in Python use. Those in shell use tap.sh.

  check("a sentence", CONDITION, WHY)   print ok if CONDITION is true, else print WHY
  run(MAIN)                             call MAIN(), print the plan, and exit

Each test has a directory of its own.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import os
import pathlib
import sys
import tempfile

READPAST = pathlib.Path(sys.argv[1]).resolve()
cases = bad = 0


def check(name, ok, why=""):
    global cases, bad
    cases += 1
    bad += not ok
    print(f"{'' if ok else 'not '}ok {cases} - {name}", flush=True)
    if not ok:
        print("#", repr(why)[-2000:])


def run(main):
    os.environ.pop("READPAST_DB", None)
    os.environ.pop("READPAST_HISTORY", None)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        main()
        os.chdir("/")
    print(f"1..{cases}")
    sys.exit(bad > 0)
