#!/usr/bin/python3
"""Test the loadable extension on the host's connection: its locks, its settings, what
it may do, and the journal mode.

  connections.py EXTENSION READPAST COUNT_SYNCS

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import os
import sqlite3
import subprocess
import sys
import time

from cases import EXTENSION, case, connect, main, one, readpast, refused, sanitized

# Calls that may run outside of a transaction: two enqueues in statements that read no
# table, a claim, and an enqueue in a statement that reads a table of the application.
CALLS = ("select readpast_enqueue('q', 'x')",
         "select readpast_enqueue('q', 'x', '{\"priority\": 100}')",
         "select * from readpast_claim('q', 1)",
         "select readpast_enqueue('q', x) from orders")


def queue(path):
    """Make a queue with one job, in WAL mode. The database also has a table of the
    application."""
    db = connect(path, isolation_level=None)
    db.execute("create table orders (x)")
    db.execute("insert into orders values (1)")
    one(db, "select readpast_enqueue('q', 'x')")
    assert journal_mode(path) == "wal"
    return db


def journal_mode(path):
    """Return the journal mode of the file. A new connection must read from the file
    before the pragma returns the file's mode."""
    db = sqlite3.connect(path)
    db.execute("select * from sqlite_master").fetchall()
    mode = one(db, "pragma journal_mode")
    db.close()
    return mode


def jobs(db):
    return db.execute("select id, state from readpast_jobs order by id").fetchall()


def start(program, *args):
    """Start a Python program, and wait until it prints a line."""
    process = subprocess.Popen([sys.executable, "-c", program, *map(str, args)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    return process


def overtake(db, path):
    """Try to commit with another connection before each statement that `db` runs. Returns
    a list with one element for each commit that succeeded."""
    other = sqlite3.connect(path, isolation_level=None, timeout=0)
    commits = []

    def commit(_):
        try:
            other.execute("insert into orders values (1)")
            commits.append(1)
        except sqlite3.OperationalError as error:
            assert "locked" in str(error)

    db.set_trace_callback(commit)
    return commits


@case
def a_plain_begin_takes_the_write_lock_before_it_reads(path):
    queue(path).close()
    for call in ("select readpast_enqueue('q', 'x')",
                 "select readpast_enqueue('q', 'x', '{\"priority\": 9}')",
                 "select * from readpast_claim('q', 1)"):
        db = connect(path, isolation_level=None)
        # Setting temp_store drops all temporary tables, including those of the extension.
        if call == CALLS[0]:
            db.execute("pragma temp_store = memory")
        db.execute("begin")
        commits = overtake(db, path)
        assert len(db.execute(call).fetchall()) == 1
        assert commits
        db.set_trace_callback(None)
        db.execute("commit")
        db.close()


@case
def a_call_waits_for_as_long_as_the_host_would(path):
    holder = queue(path)
    holder.execute("begin immediate")
    for begin in ("", "begin"):
        for call in CALLS:
            db = connect(path, isolation_level=None, timeout=0.3)
            if begin and "from orders" not in call:
                db.execute(begin)
            began = time.monotonic()
            assert "locked" in refused(db, call)
            # the library's own timeout would be 10 s
            assert 0.25 < time.monotonic() - began < 8, call
            db.close()
    db = connect(path, isolation_level=None, timeout=60)
    db.execute("pragma busy_timeout = 0")
    for call in CALLS:
        began = time.monotonic()
        assert "locked" in refused(db, call)
        assert time.monotonic() - began < 8, call
    holder.execute("rollback")
    for call in CALLS:
        db.execute(call).fetchall()


@case
def a_select_that_reads_goes_on_after_another_client_has_written(path):
    db = queue(path)
    db.execute("insert into orders values (2), (3)")
    for call in CALLS:
        rows = db.execute("select x, readpast_enqueue('q', x) from orders")
        rows.fetchone()
        readpast(path, "enqueue", "q", "theirs")
        db.execute(call).fetchall()
        readpast(path, "enqueue", "q", "theirs")
        assert len(rows.fetchall()) == 2
    assert one(db, "select max(id) from readpast_jobs") == 1 + 5 * 4 + 1 + 1 + 3


@case
def another_client_may_write_before_any_call_outside_of_a_transaction(path):
    queue(path).close()
    for call in CALLS:
        db = connect(path, isolation_level=None)
        commits = overtake(db, path)
        db.execute(call).fetchall()
        assert commits
        db.set_trace_callback(None)
        db.close()


@case
def a_claim_that_was_not_read_to_its_end_blocks_no_client(path):
    db = queue(path)
    for _ in range(3):
        one(db, "select readpast_enqueue('q', 'x')")
    rows = db.execute("select id, claim_no from readpast_claim('q', 3)")
    for claim in rows:
        readpast(path, "enqueue", "q", "theirs")
        assert one(db, "select readpast_complete(?, ?)", *claim) == "done"
    assert [job[1] for job in jobs(db)] == ["ready"] * 4


@case
def calls_are_made_on_the_hosts_own_connection(path):
    """The extension's statements run on the host's connection. So the host's functions,
    hooks and VFS affect them."""
    db = queue(path)
    seen = []
    db.create_function("note", 1, seen.append)
    db.execute("create trigger notes after insert on readpast_job "
               "begin select note(new.id); end")
    changes = db.total_changes
    assert one(db, "select readpast_enqueue('q', 'x')") == 2
    assert seen == [2] and db.total_changes > changes
    changes = db.total_changes
    assert len(db.execute("select * from readpast_claim('q', 2)").fetchall()) == 2
    assert db.total_changes > changes


@case
def a_database_that_others_have_attached_is_not_locked(path):
    other = path.parent / "other.db"
    holder = sqlite3.connect(other, isolation_level=None)
    holder.execute("create table t (x)")
    holder.execute("begin immediate")
    db = queue(path)
    db.execute("attach ? as other", (str(other),))
    db.execute("pragma busy_timeout = 0")
    for call in CALLS:
        db.execute(call).fetchall()
    holder.execute("rollback")


def deny(db, *codes):
    db.set_authorizer(lambda code, *_: sqlite3.SQLITE_DENY if code in codes
                      else sqlite3.SQLITE_OK)


@case
def the_extension_does_not_write_if_the_host_may_not(path):
    queue(path).close()
    for means in ("mode=ro", "query_only", "authorizer"):
        ro = "?mode=ro" if means == "mode=ro" else ""
        db = connect(f"file:{path}{ro}", uri=True, isolation_level=None)
        # Make the connection read-only before its first call. In a second round, do so
        # after other calls.
        for used in (False, True):
            if used and not ro:
                db.execute("pragma query_only = 0")
                db.set_authorizer(None)
                for call in CALLS:
                    db.execute(call).fetchall()
            if means == "query_only":
                db.execute("pragma query_only = 1")
            elif means == "authorizer":
                deny(db, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE,
                     sqlite3.SQLITE_DELETE)
            before = jobs(db)
            for begin, end in (("select 1", "select 1"), ("begin", "rollback")):
                for call in CALLS:
                    db.execute(begin)
                    words = refused(db, call)
                    assert ("readonly" in words or "prohibited" in words
                            or "not authorized" in words), (means, words)
                    db.execute(end)
            assert jobs(db) == before, (means, used)
        db.close()


@case
def a_host_that_only_reads_does_not_change_the_journal_mode(path):
    db = connect(path, isolation_level=None)
    db.execute("begin")
    one(db, "select readpast_enqueue('q', 'x')")
    db.execute("commit")
    for statement in ("pragma query_only = 1", None):
        db = connect(path, isolation_level=None)
        if statement:
            db.execute(statement)
        else:
            deny(db, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_INSERT)
        refused(db, "select readpast_enqueue('q', 'x')")
        db.close()
        assert journal_mode(path) == "delete"


SYNCS = """
import ctypes, sqlite3, sys
path, extension, level, call = sys.argv[1:]
db = sqlite3.connect(path, isolation_level=None)
db.enable_load_extension(True)
db.load_extension(extension)
db.execute("pragma wal_autocheckpoint = 0")
db.execute("pragma synchronous = " + level)
count = ctypes.c_int.in_dll(ctypes.CDLL(None), "syncs")
db.execute(call).fetchall()
before = count.value
for _ in range(5):
    db.execute(call).fetchall()
print(count.value - before)
"""


@case
def the_synchronous_setting_of_the_host_applies(path):
    queue(path).execute("insert into orders values (2)")
    preload = " ".join(filter(None, (sanitized(), os.path.abspath(sys.argv[3]))))
    for call in CALLS:
        for level, least, most in (("full", 5, 99), ("normal", 0, 0),
                                   ("off", 0, 0)):
            counted = subprocess.run(
                [sys.executable, "-c", SYNCS, path, EXTENSION, level, call],
                check=True, capture_output=True, text=True,
                env={**os.environ, "LD_PRELOAD": preload}).stdout
            assert least <= int(counted) <= most, (call, level, counted)


@case
def column_names_may_be_long(path):
    db = queue(path)
    db.execute("pragma full_column_names = 1")
    db.execute("pragma short_column_names = 0")
    for begin, end in (("begin", "commit"), ("select 1", "select 1")):
        db.execute(begin)
        one(db, "select readpast_enqueue('q', 'x', '{\"unique_key\": \"u\"}')")
        claims = db.execute("select id, claim_no from readpast_claim('q', 9)"
                            ).fetchall()
        assert claims
        for claim in claims:
            one(db, "select readpast_fail(?, ?, 'why', 0)", *claim)
        one(db, "select readpast_sweep()")
        for claim in db.execute("select id, claim_no from readpast_claim('q', 9)"
                                ).fetchall():
            one(db, "select readpast_complete(?, ?)", *claim)
        db.execute(end)
        assert jobs(db) == []


@case
def a_database_in_UTF_16_is_a_queue_like_any(path):
    for encoding in ("UTF-16le", "UTF-16be"):
        name = path.with_name(encoding)
        db = connect(name, isolation_level=None)
        db.execute(f"pragma encoding = '{encoding}'")
        db.execute("create table orders (x)")
        db.execute("insert into orders values ('héllo')")
        job = "select readpast_enqueue(?, ?, ?)"
        options = ('{"unique_key": "ключ", "kind": "größe", '
                   '"headers": {"a": "日本"}, "delay": 0, "priority": 7}')
        assert one(db, job, "grüße", "héllo 🐘", options) == 1
        assert one(db, job, "grüße", "again", options) == 1
        assert journal_mode(name) == "wal"
        assert one(db, job, "grüße", b"\xff\x00", None) == 2
        db.execute("begin")
        assert one(db, job, "grüße", "日本", None) == 3
        db.execute("commit")
        assert one(db, "select readpast_enqueue('grüße', x) from orders") == 4
        assert [row[0] for row in db.execute(
            "select payload from readpast_jobs order by id")] == [
                "héllo 🐘", "\\xff00", "日本", "héllo"]
        rows = db.execute(
            "select id, claim_no, queue, kind, payload, headers, unique_key "
            "from readpast_claim('grüße', 9)").fetchall()
        assert [row[2:] for row in rows] == [
            ("grüße", "größe", "héllo 🐘", '{"a":"日本"}', "ключ"),
            ("grüße", None, b"\xff\x00", None, None),
            ("grüße", None, "日本", None, None),
            ("grüße", None, "héllo", None, None)], rows
        assert one(db, "select readpast_fail(?, ?, 'schlüssel', '5m')", *rows[0][:2])
        assert one(db, "select last_error from readpast_jobs where id = 1") \
            == "schlüssel"
        assert one(db, "select readpast_fail(?, ?, 'ж', null, true)", *rows[1][:2])
        assert "ж" in readpast(name, "show", "2")
        assert one(db, "select readpast_release(?, ?)", *rows[2][:2])
        assert one(db, "select readpast_extend(?, ?, '2m')", *rows[3][:2])
        assert one(db, "select readpast_complete(?, ?)", *rows[3][:2])
        assert "no longer yours" in refused(
            db, "select readpast_complete(?, ?)", *rows[3][:2])
        assert "ü" in refused(db, "select readpast_enqueue('q', 1, '{\"ü\": 1}')")
        assert one(db, "select readpast_sweep()") >= 0
        assert one(db, "pragma integrity_check") == "ok"


CLIENT = """
import sqlite3, sys
path, extension, call = sys.argv[1:]
db = sqlite3.connect(path, isolation_level=None, timeout=60)
db.enable_load_extension(True)
db.load_extension(extension)
print("ready", flush=True)
sys.stdin.readline()
for n in range(20):
    db.execute("insert into orders values (?)", (n,))
    if call == "claim" and n % 2:
        for claim in db.execute("select id, claim_no "
                                "from readpast_claim('q', 1)").fetchall():
            db.execute("select readpast_complete(?, ?)", claim).fetchall()
    else:
        db.execute("select readpast_enqueue('q', ?)", (n,)).fetchall()
print(db.execute("pragma journal_mode").fetchone()[0])
"""


@case
def processes_that_start_at_once_switch_a_file_to_WAL_without_errors(path):
    """The file exists already, because the application has created it in SQLite's
    default journal mode."""
    for turn in range(4):
        name = path.with_name(f"{turn}.db")
        db = sqlite3.connect(name, isolation_level=None)
        db.execute("create table orders (x)")
        db.close()
        clients = [start(CLIENT, name, EXTENSION, call)
                   for call in ("enqueue", "enqueue", "claim", "claim")]
        for client in clients:
            client.stdin.write("go\n")
            client.stdin.flush()
        for client in clients:
            mode, errors = client.communicate()
            assert (mode, errors) == ("wal\n", ""), (mode, errors)
        db = connect(name)
        assert one(db, "select count(*) from orders") == 80
        assert one(db, "select max(id) from (select id from readpast_jobs union "
                       "select seq from sqlite_sequence "
                       "where name = 'readpast_job')") == 60


@case
def a_new_file_may_begin_with_a_call_inside_a_transaction(path):
    db = connect(path, isolation_level=None)
    db.execute("begin")
    assert one(db, "select readpast_enqueue('q', 'x')") == 1
    db.execute("commit")
    # The journal mode cannot change in a transaction. The next call outside of a
    # transaction changes it to WAL.
    assert journal_mode(path) == "delete"
    assert len(db.execute("select * from readpast_claim('q', 1)").fetchall()) == 1
    assert one(db, "select readpast_enqueue('q', 'y')") == 2
    assert journal_mode(path) == "wal"


@case
def a_schema_that_was_rolled_back_is_made_again(path):
    db = connect(path, isolation_level=None)
    for _ in range(2):
        db.execute("begin")
        db.execute("create table t (x)")
        one(db, "select readpast_enqueue('q', 'x')")
        assert "no job has" in refused(db, "select readpast_complete(9, 9)")
        assert "name is missing" in refused(db, "select readpast_enqueue('', 'x')")
        db.execute("savepoint a")
        one(db, "select readpast_enqueue('q', 'x')")
        db.execute("rollback to a")
        assert len(db.execute("select * from readpast_claim('q', 9)").fetchall()) == 1
        db.execute("rollback")
        assert one(db, "select count(*) from sqlite_master") == 0
    assert one(db, "select readpast_enqueue('q', 'x')") == 1


@case
def a_host_that_has_locked_the_file_does_not_wait(path):
    db = connect(path, isolation_level=None)
    db.execute("create table orders (x)")
    db.execute("insert into orders values (1)")
    db.execute("pragma locking_mode = exclusive")
    for mode in ("delete", "wal"):
        db.execute(f"pragma journal_mode = {mode}")
        for call in CALLS:
            db.execute(call).fetchall()
        assert one(db, "pragma journal_mode") == mode
    assert one(db, "select max(id) from readpast_jobs") == 6


@case
def temporary_tables_may_be_dropped(path):
    """A temporary table can vanish, for instance through `pragma temp_store`. The
    extension's table readpast_claim is temporary."""
    db = connect(path, isolation_level=None)
    one(db, "select readpast_enqueue('q', 'x')")
    db.execute("pragma temp_store = memory")
    readpast(path, "enqueue", "q", "y")
    assert len(db.execute("select * from readpast_claim('q', 1)").fetchall()) == 1
    assert one(db, "select readpast_complete(id, claim_no) "
                   "from readpast_claim('q', 1)") == "done"
    db.close()
    db = connect(path, isolation_level=None)
    db.execute("begin")
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    db.execute("rollback")
    assert db.execute("select * from readpast_claim('q', 1)").fetchall() == []


sys.exit(main())
