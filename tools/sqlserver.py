"""Connections to a SQL Server, and scripts in T-SQL, for tools/sqlserver-steps and
tools/sqlserver-stress.

The URL of the server is in the environment variable READPAST_SQLSERVER, and not in an
argument, because other users of the machine can read arguments:

  mssql://USER:PASSWORD@HOST:PORT/DATABASE

No function prints the password. Characters such as `@` are percent-encoded.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import os
import re
import sys
import urllib.parse

try:
    import pymssql
except ImportError:
    sys.exit(f"{sys.argv[0]}: needs pymssql: apt-get install python3-pymssql")

VARIABLE = "READPAST_SQLSERVER"
FORM = f"{VARIABLE} must be mssql://USER:PASSWORD@HOST:PORT/DATABASE"


def stop(message):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


def server():
    """Return the arguments of pymssql.connect() for the server."""
    url = urllib.parse.urlsplit(os.environ.get(VARIABLE, ""))
    try:
        port = url.port or 1433
    except ValueError:
        stop(FORM)
    if url.scheme != "mssql" or not url.hostname or not url.path.strip("/"):
        stop(FORM)
    return {"server": url.hostname, "port": str(port),
            "user": urllib.parse.unquote(url.username or ""),
            "password": urllib.parse.unquote(url.password or ""),
            "database": urllib.parse.unquote(url.path.strip("/"))}


def connect(name):
    """Open a connection that commits each statement, unless the statement begins a
    transaction itself. `name` is shown as the program's name on the server."""
    return pymssql.connect(**server(), appname=name, login_timeout=20, charset="UTF-8",
                           autocommit=True)


def check():
    """Stop the program with a message if the server cannot be reached."""
    try:
        connect("readpast").close()
    except pymssql.Error as error:
        stop(text_of(error))


def parts_of(error):
    """Return the number and the message of an error. pymssql wraps some errors once
    more than others."""
    args = error.args
    while args and not isinstance(args[0], (int, str)):
        args = args[0] if isinstance(args[0], tuple) else args[0].args
    return (args[0] if args and isinstance(args[0], int) else 0,
            args[-1] if args else "")


def number_of(error):
    """Return the number of an error of the server, or 0."""
    return parts_of(error)[0]


def text_of(error):
    """Return the message of an error in one line."""
    last = parts_of(error)[1]
    text = last.decode("utf-8", "replace") if isinstance(last, bytes) else str(last)
    text = re.sub(r"^DB-Lib error message \d+, severity \d+:", "", text)
    return " ".join(re.sub(r"(?s)DB-Lib error message.*", "", text).split())


def batches(text):
    """Split a script at its lines `go`, as sqlcmd does."""
    return [part for part in re.split(r"(?im)^\s*go\s*$", text)
            if re.sub(r"--.*", "", part).strip()]


def run(connection, sql):
    """Run a batch. Returns its results, each of which is a list of rows."""
    results = []
    with connection.cursor() as cursor:
        cursor.execute(sql)
        while True:
            if cursor.description:
                results.append(cursor.fetchall())
            if not cursor.nextset():
                return results
