#!/usr/bin/env python3
"""Test the header and the length of each routine of sql/postgres/schema, and of each
procedure, function and view of sql/sqlserver. A header is the comment at the top of a
file. Its first line is `-- name: ...`. A line that begins with `-- Result:` (or
`-- Rows:`) says what the routine returns, unless it returns void. A line that begins
with `-- Locks:` says what the routine locks. Test all SQL for PostgreSQL for backslashes.

  routines.py SOURCE

Prints TAP.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import pathlib
import re
import sys

MOST_LINES = 60

# A comment, a quoted name, or a string with the prefix that it may have.
PIECES = re.compile(r"""--[^\n]*|"[^"]*"|\w*'(?:[^']|'')*'""")


def header_of(text):
    return text[:text.find("\n\n")]


def is_void(text):
    return set(re.findall(r"\breturns\s+(\w+)", text)) == {"void"}


def tsql_length_of(text):
    return sum(bool(line.strip()) for line in
               re.split(r"^as$", text, maxsplit=1, flags=re.M)[-1].splitlines())


def lengths_of(text):
    """Yield the number of lines of each body, without blank lines."""
    for body in text.split("$body$")[1::2]:
        yield sum(bool(line.strip()) for line in body.splitlines())


def lacks_name(path, text):
    return not text.startswith(f"-- {path.stem}: ")


def lacks_result(_, text):
    return not (is_void(text)
                or re.search("^-- (Result|Rows):", header_of(text), re.M))


def lacks_locks(_, text):
    return not re.search("^-- Locks:", header_of(text), re.M)


def is_long(_, text):
    return max(lengths_of(text)) > MOST_LINES


def has_plain_backslash(text):
    """The meaning of a backslash in a string depends on the session's setting
    standard_conforming_strings, unless the string is written as e'...'."""
    return any(piece[0] == "'" and "\\" in piece
               for piece in PIECES.findall(text))


def cases(files, procedures, sql):
    yield "there are routines", len(files) > 100, []
    for name, is_bad in (
            ("each routine's header begins with its name", lacks_name),
            ("each routine's header says what it answers", lacks_result),
            ("each routine's header says what it locks", lacks_locks),
            (f"no routine is longer than {MOST_LINES} lines", is_long)):
        bad = [str(path) for path, text in files if is_bad(path, text)]
        yield name, not bad, bad
    bad = [str(path) for path, text in sql if has_plain_backslash(text)]
    yield "each string with a backslash is written as e'...'", not bad, bad
    yield "there are procedures in T-SQL", len(procedures) > 50, []
    for name, is_bad in (
            ("each procedure's header begins with its name", lacks_name),
            ("each procedure's header says what it locks", lacks_locks),
            (f"no procedure is longer than {MOST_LINES} lines",
             lambda _, text: tsql_length_of(text) > MOST_LINES)):
        bad = [str(path) for path, text in procedures if is_bad(path, text)]
        yield name, not bad, bad


def main():
    schema = pathlib.Path(sys.argv[1], "sql/postgres/schema")
    texts = [(p, p.read_text()) for p in sorted(schema.rglob("*.sql"))]
    postgres = pathlib.Path(sys.argv[1], "sql/postgres")
    sql = [(p.relative_to(postgres), p.read_text()) for p in postgres.rglob("*.sql")]
    folder = pathlib.Path(sys.argv[1], "sql/sqlserver")
    procedures = [(p.relative_to(folder), p.read_text()) for p in folder.glob("*.sql")
                  if p.stem != "install"]
    procedures = [(p, t) for p, t in procedures
                  if re.search("^(alter procedure|create (function|view)) ", t, re.M)]
    number = failed = 0
    for name, good, seen in cases(
            [(p.relative_to(schema), t) for p, t in texts if "$body$" in t],
            procedures, sql):
        number += 1
        failed += not good
        print(f"{'' if good else 'not '}ok {number} - {name}", flush=True)
        for path in seen:
            print(f"# {path}")
    print(f"1..{number}")
    sys.exit(failed > 0)


main()
