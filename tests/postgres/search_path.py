#!/usr/bin/python3
"""Test that no object in the schema `public` can run in place of an object of
pg_catalog. An attacker, a role without rights on readpast's schema, creates objects in
`public`. Each of these shadows has the name of a function, operator, view or type of
pg_catalog that readpast uses (see shadows.sql). Every session has `public` in its
search_path. No shadow may run when a routine, the program or the library is called.
Starts a server of its own.

  search_path.py CLI ROOT ATTACHED [CASE...]

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

import psycopg2

from server import pg_temp

CLI, ROOT, ATTACHED = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
SQL = ROOT / "sql/postgres"
SUITE = []

# The values of search_path. A shadow is an object in the schema public that has the
# name of an object in pg_catalog. With the first value, public comes before pg_catalog.
# The second value is the default of PostgreSQL. With it, pg_catalog comes before
# public, and a shadow runs only if its argument types match a call better than those of
# the real object do.
PATHS = "public, pg_catalog", '"$user", public'

# An argument for each type of a routine's parameter.
VALUES = {
    "integer": "1", "bigint": "1", "text": "'q'", "bytea": "'x'",
    "boolean": "true", "interval": "'1 second'",
    "timestamp with time zone": "'2026-01-01'", "json": "'{}'",
    "jsonb": "'[]'", "pg_snapshot": "'10:20:10,14'", "xid8": "'15'",
    "bigint[]": "array[1::bigint]", "integer[]": "array[1]",
    "text[]": "'{q}'", "interval[]": "'{1 second}'", "jsonb[]": "'{\"{}\"}'",
    "bytea[]": "'{x}'", "timestamp without time zone": "'2026-01-01'",
    "tid[]": "'{\"(0,1)\"}'",
}


def value(type):
    """Return an argument of a routine, as SQL. A type of the schema gets an empty array,
    or null."""
    if not type.startswith("readpast."):
        return f"{VALUES[type]}::{type}"
    return f"'{{}}'::{type}" if type.endswith("[]") else f"null::{type}"


# Routines that are called only by settle_and_claim(), and so run with its search_path.
# A search_path of their own would cost each claim some microseconds.
INNER = {"lock_queue", "lock_lane", "move_cursor", "settle", "settle_claim"}


def case(function):
    SUITE.append(function)
    return function


def connect(path):
    db = psycopg2.connect(
        URL, options="-csearch_path=" + path.replace(" ", "\\ "))
    db.autocommit = True
    return db


def run(db, sql, *args):
    with db.cursor() as cursor:
        cursor.execute(sql, args or None)
        return cursor.fetchall() if cursor.description else []


# ---- the shadows that ran ----

class Log:
    """The server's log, to which shadows write when they run. Each call returns which
    shadows ran since the last call, and with the rights of which role."""

    def __init__(self):
        self.file = open(f"{SERVER}/server.log", errors="replace")

    def shadows(self):
        text = self.file.read()
        return sorted({*re.findall(r"shadow: (.*)", text)}), text

    def stays_empty(self, what):
        seen, text = self.shadows()
        first = text.find("shadow: ")
        assert not seen, f"{what}: {seen[:5]}\n{text[first:first + 600]}"


def calls(db):
    """Yield calls of all routines of the schema except triggers, which fill() fires."""
    for name, signature, types in run(db, """
            select p.proname, p.oid::pg_catalog.regprocedure,
                   array(select pg_catalog.format_type(a.type, null)
                           from pg_catalog.unnest(p.proargtypes)
                                with ordinality as a(type, n)
                          order by a.n)
              from pg_catalog.pg_proc p
              join pg_catalog.pg_namespace n on n.oid = p.pronamespace
             where n.nspname = 'readpast'
               and p.prorettype <> 'pg_catalog.trigger'::pg_catalog.regtype
             order by p.oid"""):
        if name in INNER:
            continue
        args = ", ".join(map(value, types))
        yield signature, f"select readpast.{name}({args})"
        # Also pass null for all arguments but the first, because a routine often runs
        # other statements if an argument is null.
        nulls = ", ".join(f"null::{t}" if n else value(t)
                          for n, t in enumerate(types))
        yield signature, f"select readpast.{name}({nulls})"


def prepare(text):
    """Add pg_catalog to the names of types. The statement belongs to the test, so it must
    not run a shadow (an attacker's object with the name of one of pg_catalog's)."""
    return re.sub(r"::(text|bytea|jsonb?|tid|pg_snapshot|xid8)\b",
                  r"::pg_catalog.\1", text)


def fill(db):
    """Make jobs in each state."""
    run(db, "truncate readpast.job, readpast.archive, readpast.kept_count, "
            "readpast.queue restart identity cascade")
    for more in ("", ", delay => '1 hour'", ", unique_key => 'k'",
                 ", max_attempts => 1"):
        run(db, f"select readpast.enqueue('q', 'x'{more}) ")
    run(db, "select readpast.enqueue('q', 'x', priority => 0)")
    ((job, claim),) = run(db, "select id, claim_no from readpast.claim('q')")
    run(db, "select readpast.fail(%s, %s, for_good => true)", job, claim)
    run(db, "select readpast.claim('q', 1, '1 ms')")
    run(db, "select readpast.claim('q', 1, '1 s', worker => 'w')")
    run(db, "select readpast.queue_set('q', group_limit => 1, rate => 99, per => '1 s')")
    for _ in range(2):
        run(db, "select readpast.enqueue('q', 'x', group_key => 'g')")
    run(db, "select readpast.hold('q', '1 hour', 'g')")


@case
def the_shadows_run_if_the_path_finds_them(log):
    for path, statements in (
            (PATHS[0], ("select 1 + 1", "select now()", "select 'x'::text",
                        "select 'x' from pg_settings")),
            (PATHS[1], ("select 2::bigint * interval '1 s'",
                        "select cardinality('{1}'::bigint[])"))):
        db = connect(path)
        for sql in statements:
            run(db, sql)
            assert log.shadows()[0], (path, sql)


@case
def no_routine_runs_a_strangers_code(log):
    clean = connect("pg_catalog")
    fill(clean)
    all_calls = list(calls(clean))
    assert len(all_calls) > 100
    for path in PATHS:
        db = connect(path)
        for signature, call in all_calls:
            run(db, "begin")
            try:
                run(db, prepare(call))
            except psycopg2.Error as error:
                # Some calls fail, because their arguments make no sense. They fail with
                # errors of the classes that are listed below. Any other error may come
                # from a shadow. For example, count(*) fails with 42809 if it finds the
                # shadow of count().
                assert error.pgcode[:2] in ("RP", "22", "25", "40", "23"), (
                    f"{call}: {error.pgcode} {error}")
            run(db, "rollback")
            log.stays_empty(f"{path}: {signature}")
        fill(db)
        run(db, "select * from readpast.sweep()")
        log.stays_empty(f"{path}: the life of a job")


@case
def no_view_runs_a_strangers_code(log):
    fill(connect("pg_catalog"))
    for path in PATHS:
        for view in "live", "kept", "jobs":
            run(connect(path), f"select * from readpast.{view}")
            log.stays_empty(f"{path}: view {view}")


def url_of(path, schema="readpast"):
    return (f"postgres:///postgres?host={SERVER}&user=postgres&schema={schema}"
            "&options=-csearch_path%3D"
            + path.replace(" ", "%5C%20").replace('"', "%22"))


def tool(path, *args, said="", status=(0,), schema="readpast"):
    done = subprocess.run([CLI, "--db", url_of(path, schema), *args],
                          input=said, text=True, capture_output=True,
                          timeout=60)
    assert done.returncode in status, (args, done)
    return done.stdout


@case
def the_program_runs_no_strangers_code(log):
    for number, path in enumerate(PATHS):
        def do(*args, **more):
            out = tool(path, *args, **more)
            log.stays_empty(f"{path}: readpast {' '.join(args)}")
            return out

        def claim(queue):
            job = json.loads(do("claim", queue))
            return job["claim"]

        do("init", schema=f"new_{number}")
        url, other = url_of(path), url_of(path, f"new_{number}")
        do("init")
        do("queue", "set", "q", "--backoff", "0s", "--keep-done", "1h")
        do("queue", "list")
        do("enqueue", "q", said="1\n2\n3\n")
        do("enqueue", "q", "x", "--unique", "u", "--header", "a=1", "--kind",
           "k")
        do("enqueue", "q", "y", "--unique", "u", "--replace")
        late = do("enqueue", "q", "x", "--delay", "1h").split()[-1]
        do("enqueue", "q", "x", "--delay", "1ms", "--priority", "3")
        do("complete", claim("q"))
        do("extend", claim("q"), "--lease", "100ms")
        do("release", claim("q"))
        do("fail", claim("q"), "--error", "no")
        dead = claim("q")
        do("fail", dead, "--error", "no", "--for-good")
        do("show", late)
        do("why", late)
        do("retry", dead.split(":")[0])
        do("cancel", late)
        do("retry", late)
        for state in "ready", "scheduled", "running", "done", "dead":
            do("list", "q", "--state", state)
        do("stats")
        do("workers")
        do("sweep")
        do("pause", "q")
        do("resume", "q")
        do("doctor", status=(0, 1))
        do("copy", url, other, "q", "--running", "leave")
        do("work", "q", "--drain", "--", "true")
        do("stress", "--jobs", "300")
        do("lab", "readpast", "--jobs", "20")
        do("purge", "q", "--state", "all", "--yes")
        do("queue", "drop", "q", "--yes", status=(0, 1))


@case
def on_a_connection_of_the_callers_no_strangers_code_runs(log):
    for number, path in enumerate(PATHS):
        subprocess.run([ATTACHED, f"{URL} options='-csearch_path="
                        + path.replace(" ", "\\\\ ") + "'",
                        f"theirs_{number}"], check=True, timeout=60)
        log.stays_empty(f"{path}: attached")


# ---- the text of the SQL ----

KEYWORDS = {"coalesce", "greatest", "least", "extract", "any", "all", "array",
            "exists", "operator", "row", "unnest", "values"}
TYPES = {"bigint", "integer", "boolean", "interval", "timestamp"}
NAMED = {"text", "bytea", "json", "jsonb", "timestamptz", "tid", "xid8", "oid",
         "regclass", "record", "name[]"}


def unsafe(text):
    """Return the names in a statement that have no schema, so that the caller's
    search_path decides which objects they name."""
    text = re.sub(r"--.*", "", text)
    text = text.replace("using errcode =", "")   # this `=` is not an operator
    text = re.sub(r"E?'(?:[^']|'')*'", "''", text)
    ctes = set(re.findall(r"(\w+) as (?:materialized )?\(", text))
    text = re.sub(r"operator\(pg_catalog\.[^)]+\)", " ", text)
    text = re.sub(r"\bas \w+\([^()]*\)|\bepoch from|\(\*\)|\w\.\*|:=|=>", " ",
                  text)
    if "update" in text:
        text = re.sub(r"(\bset|,)(\s+[\w.]+) = ", r"\1\2 ", text)
    found = re.findall(r"[-+*/<>=~!@#%^&|`?]+(?!\d)", text)
    found += re.findall(r"\b(?:between|in|like|nullif)\b|\bis (?:not )?distinct "
                        r"from|\bcase (?!when)|\busing \(", text)
    found += [call for schema, call in re.findall(r"(\w+\.)?(\w+)\(", text)
              if schema not in ("pg_catalog.", "readpast.")
              and call not in KEYWORDS]
    found += re.findall(r"(?<!\.)\bunnest\([^(),]*\)", text)
    found += [name for name in re.findall(r"::([\w.]+)", text)
              if name not in TYPES
              and not name.startswith(("pg_catalog.", "readpast."))]
    found += [word for word in re.findall(r"(?<![.\w])\w+", text)
              if word in NAMED]
    found += [name for name in re.findall(
                  r"\b(?:from|join|into|update) (\w+)(?![\w.(])", text)
              if name not in ctes | {"skip", "select", "lateral", "set"}]
    return found


@case
def a_routine_without_its_own_path_names_the_schema_of_all_it_uses(log):
    assert unsafe("select a + b") and unsafe("select now()::text")
    assert unsafe("select 1 from job where a in (1)")
    texts = {p.name: p.read_text() for p in (SQL / "verbs").glob("*.sql")}
    assert len(texts) > 40
    count = 0
    for name, language, settings, body in run(connect("pg_catalog"), """
            select p.oid::regprocedure::text, l.lanname, p.proconfig, p.prosrc
              from pg_proc p join pg_language l on l.oid = p.prolang
             where p.pronamespace = 'readpast'::regnamespace"""):
        inner = set(re.findall(r"readpast\.(\w+)\(", body)) & INNER
        assert not inner or name.split("(")[0].split(".")[-1] in (
            INNER | {"settle_and_claim"}), (name, inner)
        if "search_path=pg_catalog, pg_temp" in (settings or []):
            count += 1
        elif name.split("(")[0].split(".")[-1] not in INNER:
            texts[name] = re.sub(r"\binto \w+;", ";", body)
    assert count > 60
    for name, text in texts.items():
        assert not unsafe(text), f"{name}: {unsafe(text)}"


# ---- the server ----

def names():
    """Return the words and operators in all SQL of the project."""
    text = "\n".join(p.read_text() for p in [
        *SQL.rglob("*.sql"), *ROOT.glob("lib/db/postgres/*.c"),
        *ROOT.glob("doctor/*postgres.c")])
    return (set(re.findall(r"[a-z_]\w*", text)),
            set(re.findall(r"(?<=[ (.])[-+*/<>=~!@#%^&|?]+(?=[ )])", text)))


def set_trap():
    words, signs = names()
    admin = connect("pg_catalog")
    run(admin, "create role mallory login")
    run(admin, "grant create on schema public to mallory")
    mallory = psycopg2.connect(URL.replace("user=postgres", "user=mallory"),
                               options="-csearch_path=pg_catalog")
    mallory.autocommit = True
    for table, all_names in ("word", words), ("sign", signs):
        run(mallory, f"create temp table {table} (name text)")
        run(mallory, f"insert into {table} select unnest(%s)", sorted(all_names))
    run(mallory, (ROOT / "tests/postgres/shadows.sql").read_text())


def main():
    wanted = sys.argv[4:]
    failed = 0
    pg_temp("start", SERVER, "fsync=off", "max_locks_per_transaction=1000")
    try:
        subprocess.run([CLI, "--db", f"postgres:///postgres?host={SERVER}"
                        "&user=postgres", "init"], check=True,
                       capture_output=True)
        set_trap()
        log = Log()
        log.shadows()
        for number, function in enumerate(SUITE, 1):
            if wanted and function.__name__ not in wanted:
                continue
            try:
                function(log)
                good = True
            except Exception:
                print("# " + traceback.format_exc().replace("\n", "\n# "))
                good = False
            log.shadows()
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - "
                  f"{function.__name__}", flush=True)
    finally:
        pg_temp("stop", SERVER, "immediate")
    print(f"1..{len(SUITE)}")
    return failed > 0


with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder).chmod(0o755)
    SERVER = str(pathlib.Path(folder) / "server")
    URL = f"host={SERVER} user=postgres dbname=postgres"
    status = main()
sys.exit(status)
