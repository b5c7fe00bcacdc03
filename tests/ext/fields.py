#!/usr/bin/python3
"""Test that the commands, tables and views that show jobs show exactly the fields that
sql/params lists.

  fields.py EXTENSION READPAST

If READPAST_TEST_POSTGRES names a server, this is also tested on that server.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import json
import os
import pathlib
import re
import subprocess
import sys

from cases import READPAST, case, connect, main

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SERVER = os.environ.get("READPAST_TEST_POSTGRES")
SCHEMA = f"fields_{os.getpid()}"


def fields():
    line = re.search(r"^job = (.*)$", (SOURCE / "sql/params").read_text(), re.M)
    return [word.split(":")[0] for word in line[1].split()]


def are(found, wanted):
    """Check that both lists have the same names in the same order."""
    assert list(found) == list(wanted), f"{list(found)}, not {list(wanted)}"


def without(*names):
    assert set(names) <= set(fields())
    return [name for name in fields() if name not in names]


def readpast(url, *args, status=0):
    ran = subprocess.run([READPAST, "--db", url, *args], capture_output=True,
                         text=True)
    assert ran.returncode == status, ran.stderr
    return ran.stdout


def urls(path):
    return [f"sqlite:{path}"] + [f"{SERVER}&schema={SCHEMA}"] * bool(SERVER)


def psql(sql):
    return subprocess.run(["psql", "-qXAt", SERVER, "-c", sql], check=True,
                          capture_output=True, text=True).stdout.split()


def columns_of(view):
    return psql("select column_name from information_schema.columns "
                f"where table_schema = '{SCHEMA}' and table_name = '{view}' "
                "order by ordinal_position")


def claimed(url):
    """Make a job with all fields that a running job can have. Returns the job
    as the claim returned it."""
    # The database may have tables of other tests. In such a database only `init`
    # creates the schema.
    readpast(url, "init")
    readpast(url, "enqueue", "q", "body", "--unique", "u", "--kind", "k",
             "--header", "a=b", "--priority", "7", "--max-attempts", "5",
             "--keep", "1h", "--timeout", "30s", "--expire", "1d",
             "--backoff", "10s,1m", "--unique-for", "2h",
             "--group", "acme")
    first = json.loads(readpast(url, "claim", "q"))
    readpast(url, "fail", first["claim"], "--error", "no",
             "--retry-in", "0")
    second = json.loads(readpast(url, "claim", "q"))
    readpast(url, "extend", second["claim"], "--progress", "half")
    readpast(url, "release", second["claim"])
    return json.loads(readpast(url, "claim", "q"))


@case
def the_struct_has_each_field_and_four_of_its_own(path):
    header = (SOURCE / "include/readpast.h").read_text()
    body = re.search(r"typedef struct rp_job \{(.*?)^\}", header, re.M | re.S)[1]
    members = re.findall(r"(\w+);", re.sub(r"/\*.*?\*/", "", body, flags=re.S))
    own = {"payload_size", "payload_total", "result_size", "suspect"}
    are([m for m in members if m not in own], fields())
    assert own <= set(members)


@case
def json_has_each_field_and_a_claim_is_shown_unchanged_later(path):
    for url in urls(path):
        job = claimed(url)
        names = without("failures", "result")
        names.insert(names.index("claim_no"), "claim")
        are(job, names)
        assert {n for n in job if job[n] is None} == {"worker", "finished_at"}
        shown = json.loads(readpast(url, "show", str(job["id"]), "--json"))
        are(shown, [*names, "result", "failures"])
        assert {name: shown[name] for name in job} == job
        listed = json.loads(readpast(url, "list", "q", "--json"))
        assert listed == job
        readpast(url, "queue", "drop", "q", "--yes", status=4)


@case
def show_has_a_line_for_each_field(path):
    url = f"sqlite:{path}"
    running = claimed(url)
    readpast(url, "enqueue", "w", "x", "--max-attempts", "1")
    readpast(url, "work", "w", "--drain", "--", "false", status=7)
    readpast(url, "queue", "set", "w", "--keep-done", "1h")
    readpast(url, "enqueue", "w", "y")
    readpast(url, "work", "w", "--drain", "--", "sh", "-c", "echo 42 >&3")
    seen = []
    for job in range(running["id"], running["id"] + 3):
        text = readpast(url, "show", str(job))
        labels = re.findall(r"^([a-z]+(?: [a-z]+)?)  *\S", text, re.M)
        seen += labels
    words = {"claim" if name == "claim_no"
             else name.replace("_", " ").removesuffix(" ms")
             for name in without("max_attempts", "failures")}
    missing = {w for w in words
               if not any(label.startswith(w) for label in seen)}
    assert not missing, f"{missing} in {seen}"


@case
def the_extension_has_each_field(path):
    tables = {name: columns.split(", ") for name, _, columns in connect(path)
              .execute("select * from readpast_functions()") if columns}
    are(tables["readpast_get"], fields())
    are(tables["readpast_list"], fields())
    left = set(without("state", "worker", "claimed_at", "finished_at",
                       "result"))
    assert set(tables["readpast_claim"]) == left | {"suspect"}
    if SERVER:
        names = psql("select unnest(proargnames[cardinality(proargnames) - 20:])"
                     f" from pg_proc where oid = (select oid from pg_proc where "
                     f"proname = 'claim' and pronamespace = '{SCHEMA}'"
                     "::regnamespace)")
        are([*names, "queue", "suspect"], tables["readpast_claim"])


@case
def the_views_have_each_field(path):
    readpast(urls(path)[0], "init")
    shown = without("claimed_at", "failures", "result")
    own = ["payload_total", "queue_id"]

    def columns(view):
        return [row[1] for row in connect(path).execute(
            f"pragma table_info({view})")]
    are(columns("readpast_live"), [*fields(), *own, "class", "seq", "due_at"])
    are(columns("readpast_kept"), [*fields(), *own])
    are(columns("readpast_jobs"), shown)
    if SERVER:
        are(columns_of("live"), [*fields(), *own, "lane_id", "seq"])
        are(columns_of("kept"), [*fields(), *own])
        are(columns_of("jobs"), shown)


if SERVER:
    # The database may have tables of other tests. In such a database only `init`
    # creates the schema.
    readpast(urls("")[1], "init")
failed = main()
if SERVER:
    psql(f"drop schema if exists {SCHEMA} cascade")
sys.exit(failed)
