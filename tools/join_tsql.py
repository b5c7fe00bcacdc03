#!/usr/bin/env python3
"""Join the files of sql/sqlserver/ into install.sql.

  tools/join_tsql.py            writes sql/sqlserver/install.sql
  tools/join_tsql.py --check    fails if that file is not up to date

FILES is the list of the files, in their order. CREATE OR ALTER is not used, because
SQL Server 2016 has it only from service pack 1 on. So each procedure that does not
exist is created as a stub, and then all procedures are altered, so that an existing
procedure keeps its permissions. Functions and views are dropped and created again,
because Babelfish cannot alter them. The name of the schema is written in brackets,
because it is a keyword of Babelfish.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "sql" / "sqlserver"

FILES = """
check stop tables locks drop_views
is_bad_name utf8_of text_of state_word with_failure backoff_ms
need_read_committed need_queue
queue_create open_lane hold_queue check_job put_again put enqueue read_jobs enqueue_many
worker_named claim_start next_lane claim
put_away read_verdicts plan_verdicts apply_verdicts refuse_verdicts settle
settle_one complete fail release extend settle_and_claim
refuse_change cancel retry purge
sweep_line sweep_leases sweep_due sweep_kept sweep_dropped sweep_cursors sweep
queue_set queue_drop pause resume stats why jobs
grants done end
""".split()

HEAD = """\
-- install: the queue of readpast for SQL Server 2016 and later and Azure SQL. PREVIEW.
-- tools/join_tsql.py has made this script from the other files of this folder.
-- Run it in the database that is to have the queue. It may be run again: jobs, queues
-- and settings stay. With sqlcmd: sqlcmd -b -I -d DATABASE -i install.sql
--
-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: The readpast authors

set quoted_identifier on;
set ansi_nulls on;
set ansi_padding on;
set ansi_warnings on;
"""


def stub(text):
    """Return the batch that has to run before a file's text."""
    made = re.search(r"^(alter|create) (procedure|function) \[readpast\]\.(\w+)", text,
                     re.MULTILINE)
    if not made:
        return ""
    verb, kind, name = made.groups()
    full = f"[readpast].{name}"
    if verb == "alter":
        return (f"if object_id(N'readpast.{name}') is null\n"
                f"\texec sp_executesql N'create {kind} {full} as return 0';\ngo\n")
    return f"if object_id(N'readpast.{name}') is not null\n\tdrop {kind} {full};\ngo\n"


def script():
    parts = [HEAD]
    for name in FILES:
        text = (FOLDER / f"{name}.sql").read_text()
        parts.append(stub(text) + text)
    return "go\n".join(parts) + "go\n"


def main():
    path = FOLDER / "install.sql"
    if sys.argv[1:] == ["--check"]:
        unlisted = ({p.stem for p in FOLDER.glob("*.sql")} - set(FILES)
                    - {"install", "uninstall", "selftest", "selftest_two"})
        if unlisted:
            sys.exit(f"not in FILES: {', '.join(sorted(unlisted))}")
        if path.read_text() != script():
            sys.exit(f"{path} is not up to date: run tools/join_tsql.py")
    elif sys.argv[1:]:
        sys.exit(__doc__.split("\n\n")[1])
    else:
        path.write_text(script())


if __name__ == "__main__":
    main()
