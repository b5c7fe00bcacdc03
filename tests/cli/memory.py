#!/usr/bin/env python3
"""Test how much memory the command uses with large payloads. The memory depends only on
the jobs that the command shows or runs at the same time, and not on the number of all
jobs.

  memory.py READPAST sqlite: | postgres:

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import json
import os
import subprocess
import sys

from tap import READPAST, check, run

MIB = 1 << 20
SIZE = 4 * MIB
JOBS = 32
# The memory that the command always uses: the program, its libraries (those for HTTP,
# too), and the blocks that malloc() keeps. With a sanitizer it is over 32 MiB.
BASE = 40 * MIB


def readpast(*args, **more):
    return subprocess.run([READPAST, *args], check=True, stdout=subprocess.PIPE,
                          **more).stdout


def peak(out, *args):
    """Run the command and write its output to the file `out`. Returns the peak
    memory of the command, in bytes."""
    actions = [(os.POSIX_SPAWN_OPEN, 1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
                0o600)]
    pid = os.posix_spawn(READPAST, [str(READPAST), *args], os.environ,
                         file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    check(f"{' '.join(args)}: exit status 0", status == 0, status)
    return usage.ru_maxrss * 1024


def within(name, got, most):
    check(name, got <= most, f"{got / MIB:.0f} MiB, expected {most / MIB:.0f}")


def main():
    url = f"sqlite:{os.getcwd()}/readpast.db"
    if sys.argv[2] == "postgres:":
        url = f"{os.environ['READPAST_TEST_POSTGRES']}&schema=test_memory_{os.getpid()}"
    os.environ["READPAST_DB"] = url
    # Limit the freed memory that the sanitizer keeps.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
    readpast("init")
    try:
        payload = os.urandom(SIZE // 2).hex().encode()
        for _ in range(JOBS):
            readpast("enqueue", "q", "--one", input=payload)
        look(payload)
        work()
    finally:
        if sys.argv[2] == "postgres:":
            subprocess.run(["psql", "-qX", os.environ["READPAST_TEST_POSTGRES"], "-c",
                            f"drop schema {url.rpartition('=')[2]} cascade"],
                           check=False, stderr=subprocess.DEVNULL)


def look(payload):
    within("list needs no more memory than the text that it prints", peak("list", "list", "q"),
           BASE + SIZE)
    with open("list", "rb") as f:
        lines = f.readlines()
    check("list prints all jobs", len(lines) == JOBS + 1, lines)
    check("list prints the beginning of each payload", payload[:40] in lines[1], lines[1])
    # The memory contains three copies of a payload: in the job, in its JSON object, and
    # in the JSON text.
    within("list --json has one payload in memory at a time",
           peak("list", "list", "q", "--json"), BASE + 6 * SIZE)
    with open("list", "rb") as f:
        check("list --json prints the whole of each payload",
              all(json.loads(line)["payload"] == payload.decode() for line in f))


def work():
    # The memory contains two copies of each payload: in the result of the query, and in
    # the job that is made of the result.
    within("a worker of two threads holds two large payloads",
           peak("work", "work", "q", "-j", "2", "--drain", "--", "true"),
           BASE + 2 * 2 * SIZE)
    stats = json.loads(readpast("stats", "q", "--json"))
    check("the worker has done all jobs", stats["ready"] + stats["running"] == 0, stats)


run(main)
