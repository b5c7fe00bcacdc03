"""Sessions of psycopg2 for the tests of the routines, and a server on which each test
case has a database of its own.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import pathlib
import subprocess
import sys
import tempfile
import time
import traceback

import psycopg2

from server import manage, pg_temp

ROOT = pathlib.Path(sys.argv[1]).resolve()
SUITE = []
SERVER = ""


def case(function):
    SUITE.append(function)
    return function


class Session:
    """A connection. Each call is a transaction, unless begin() was called before."""

    def __init__(self, database):
        self.database = database
        self.db = psycopg2.connect(database)
        self.db.autocommit = True
        self.cursor = self.db.cursor()

    def rows(self, sql, *args):
        self.cursor.execute(sql, args)
        return self.cursor.fetchall() if self.cursor.description else []

    def one(self, sql, *args):
        (row,) = self.rows(sql, *args)
        return row[0] if len(row) == 1 else row

    def refused(self, sql, *args):
        """Return the SQLSTATE and the message of the error that this statement
        raises."""
        try:
            self.rows(sql, *args)
        except psycopg2.Error as error:
            return f"{error.pgcode} {error}".split("\n")[0]
        raise AssertionError(f"{sql}: was not refused")

    def put(self, payload, **more):
        names = "".join(f", {name} => %s" for name in more)
        return self.one(f"select readpast.enqueue('q', %s::text{names})",
                        payload, *more.values())

    def claim(self, n=1, lease="60 s"):
        """Claim jobs. Returns {payload: (id, claim_no)}, in the order of the result."""
        return {bytes(payload).decode(): (job, claim_no)
                for payload, job, claim_no in self.rows(
                    "select payload, id, claim_no "
                    "from readpast.claim('q', %s, %s::interval)", n, lease)}

    def taken(self, n=1):
        return "".join(self.claim(n))

    def complete(self, claim):
        return self.one("select readpast.complete(%s, %s)", *claim)

    def sweep(self):
        return self.one("select due, recovered, dead, dropped from readpast.sweep()")

    def state(self, job):
        return self.one("select state from readpast.jobs where id = %s", job)


def buffers(s, call):
    """Return the number of pages that a call of a routine reads."""
    plan = s.one(f"explain (analyze, buffers, format json) select * from {call}")
    top = plan[0]["Plan"]
    return top["Shared Hit Blocks"] + top["Shared Read Blocks"]


def eventually(seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(0.05)
    raise AssertionError("it did not come")


# ---- the server ----

def tool(action, *args):
    return pg_temp(action, SERVER, *args)


def install(url):
    script = subprocess.run(
        [sys.executable, ROOT / "tools/embed_sql.py", "script",
         ROOT / "include/readpast.h",
         *sorted((ROOT / "sql/postgres/schema").glob("**/*.sql"))],
        check=True, capture_output=True, text=True).stdout
    subprocess.run(["psql", "-qX1v", "ON_ERROR_STOP=1", url], input=script,
                   check=True, capture_output=True, text=True)


def run(function, number, url):
    name = f"case_{number}"
    manage(url, f"create database {name} template clean")
    try:
        function(Session(url.replace("/postgres?", f"/{name}?")))
        # Drop the database now and not at the end of all cases, because some cases
        # crash the server. After a crash the server syncs the files of all databases
        # before it starts. With fifty databases this may take a minute.
        manage(url, f"drop database {name} with (force)")
        return True
    except Exception:
        print("# " + traceback.format_exc().replace("\n", "\n# "))
        return False


def run_suite(settings):
    wanted = sys.argv[2:]
    failed = 0
    url = tool("start", "max_connections=50", *settings)
    try:
        manage(url, "create database clean")
        install(url.replace("/postgres?", "/clean?"))
        for number, function in enumerate(SUITE, 1):
            if wanted and function.__name__ not in wanted:
                continue
            good = run(function, number, url)
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - "
                  f"{function.__name__}", flush=True)
    finally:
        tool("stop", "immediate")
    print(f"1..{len(SUITE)}")
    return failed > 0


def main(*settings):
    """Run all cases, or the named cases, and exit."""
    global SERVER
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder).chmod(0o755)
        SERVER = str(pathlib.Path(folder) / "server")
        status = run_suite(settings)
    sys.exit(status)
