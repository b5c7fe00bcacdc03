#!/usr/bin/env python3
"""Generate C code from the SQL in sql/: the list of the library's operations
(verbs), the statements of each database, the scripts of `readpast lab`, and the
queries of other commands.

  embed_sql.py header PARAMS           > verbs.h
  embed_sql.py fields PARAMS GROUP     > GROUP_fields.h
  embed_sql.py script READPAST.H FILE... > what psql can run
  embed_sql.py dialect PARAMS READPAST.H OUTPUT DEPFILE FOLDER
  embed_sql.py lab TECHNIQUES OUTPUT DEPFILE FOLDER...
  embed_sql.py queries OUTPUT DEPFILE FOLDER...

Stops the build with a one-line message when a folder lacks a verb or has an
unknown one, or when a statement uses an undefined parameter.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import contextlib
import itertools
import json
import math
import pathlib
import re
import sys
import zlib


# A row of a result is "taken" if the caller's callback has accepted the row. A later
# statement with ONE_TAKEN runs once for each taken row, and :taken is the id of the row.
# This script also makes a variant with MANY_TAKEN in place of ONE_TAKEN. The variant
# runs once for all taken rows.
ONE_TAKEN = "in (:taken)"
MANY_TAKEN = "in (select id from readpast_taken(:taken))"


def stop(where, why):
    sys.exit(f"{where}: {why}")


class Params:
    """The contents of the file sql/params, as dicts. `verbs` is {name: (parameters,
    columns)}, in the order of the file. `groups` is {name: columns}. In the line of a
    verb, the name of a group stands for all its columns. `types` is {(group, column):
    type}. `alike` is {name: verbs to which C passes the same parameters}."""

    def __init__(self, path):
        self.path = path
        self.verbs, self.groups, self.types, self.alike = {}, {}, {}, {}
        for line in pathlib.Path(path).read_text().splitlines():
            line = line.split("#")[0]
            if line.startswith("alike "):
                name, _, verbs = line[len("alike "):].partition(":")
                self.alike[name.strip()] = verbs.split()
            elif "=" in line:
                self.add_group(*line.split("="))
            elif line.strip():
                self.add_verb(line)
        for name, verbs in self.alike.items():
            for verb in set(verbs) - set(self.verbs):
                stop(path, f"alike {name}: unknown verb {verb}")

    def add_group(self, name, columns):
        name = name.strip()
        pairs = [c.partition(":")[::2] for c in columns.split()]
        self.groups[name] = [column for column, _ in pairs]
        self.types.update({(name, c): t or "number" for c, t in pairs})

    def add_verb(self, line):
        left, _, right = line.partition("->")
        name, mode, *params = left.split()
        if mode not in ("read", "write") or name in self.verbs:
            stop(self.path, f"{name}: must have `read` or `write`, and be listed once")
        self.verbs[name] = (self.spelled_out(name, params),
                            self.spelled_out(name, right.split()))

    def spelled_out(self, verb, words):
        """Return the list with the names of groups replaced by their columns. A group
        must be the first word, because the C code finds its columns by their positions
        in the list."""
        for word in words[1:]:
            if word in self.groups:
                stop(self.path, f"{verb}: the group `{word}` must come first")
        return [c for word in words for c in self.groups.get(word, [word])]

    def common(self, verbs, side):
        """Return the longest sequence of names with which the lists of all these verbs
        begin. `side` is 0 for their lists of parameters, and 1 for their lists of
        columns."""
        lists = [self.verbs[verb][side] for verb in verbs]
        return [names[0] for names in
                itertools.takewhile(lambda n: len(set(n)) == 1, zip(*lists))]


def enum(prefix, names, count):
    names = [f"{prefix}_{n}".upper() for n in names]
    print(f"enum {{ {', '.join([*names, count])} }};")


def header(params):
    print("/* Made by tools/embed_sql.py of sql/params. */")
    print("#ifndef RP_VERBS_H\n#define RP_VERBS_H\n")
    print("enum rp_verb {")
    for name in params.verbs:
        print(f"\tRP_V_{name.upper()},")
    print("\tRP_VERBS\n};\n")
    for name, columns in params.groups.items():
        enum(name, columns, f"{name.upper()}_COLUMNS")
    for name, (parameters, columns) in params.verbs.items():
        enum(name, parameters, f"{name.upper()}_PARAMS")
        if columns:
            enum(f"{name}_out", columns, f"{name.upper()}_COLUMNS")
    for name, verbs in params.alike.items():
        most = max(len(params.verbs[verb][0]) for verb in verbs)
        enum(name, params.common(verbs, 0), f"{name.upper()}_COMMON_PARAMS")
        print(f"enum {{ {name.upper()}_MOST_PARAMS = {most} }};")
        enum(f"{name}_out", params.common(verbs, 1),
             f"{name.upper()}_COMMON_COLUMNS")
    print("\n#endif")


def fields(params, group):
    """Print X(field, FIELD, type) for each column of a group."""
    upper = group.upper()
    print("/* Made by tools/embed_sql.py of sql/params. */")
    print(f"#ifndef RP_{upper}_FIELDS_H\n#define RP_{upper}_FIELDS_H\n")
    lines = [f"\tX({c}, {c.upper()}, {params.types[group, c]})"
             for c in params.groups[group]]
    print(f"#define RP_{upper}_FIELDS(X) \\\n" + " \\\n".join(lines))
    print("\n#endif")


def quoted(text):
    lines = text.replace("\\", "\\\\").replace('"', '\\"').split("\n")
    return "\n\t\t".join(f'"{line}\\n"' for line in lines)


# Matches the body of a routine, in which a semicolon does not end the statement.
BODY = r"\$(\w*)\$.*?\$\1\$"


def pieces(text):
    """Yield the pieces of the text that end with a semicolon at the end of a line.
    Semicolons within bodies of routines do not count."""
    start = 0
    for found in re.finditer(BODY + r"|;[ \t]*(?:\n|$)", text, re.S):
        if found[0].startswith(";"):
            yield text[start:found.start()]
            start = found.end()
    yield text[start:]


def with_shared(path):
    """Return a file's text, with the text of ../shared/NAME.sql in place of each line
    `-- include NAME`. That text may include other files."""
    def shared(found):
        part = path.parent.parent / "shared" / f"{found[1]}.sql"
        if not part.is_file():
            stop(path, f"includes {found[1]}, which is not in shared/")
        return included(part.read_text())

    def included(text):
        return re.sub(r"^-- include (\w+)\n", shared, text, flags=re.M)
    return included(path.read_text())


def statements(path):
    """Yield (text, annotations) for each statement. Annotations are the comment lines
    `-- word ...:` directly before the statement."""
    text = with_shared(path)
    if not re.match(rf"-- ({path.stem}: |Schema \d)", text):
        stop(path, f"does not open with `-- {path.stem}: what it does`")
    for piece in pieces(text):
        notes = re.findall(r"^-- (answer|answer batch|(?:the rest )?if @\w+):$", piece, re.M)
        sql = re.sub(rf"({BODY.replace('1', '2')})|^(?:--[^\n]*|[ \t]*)(?:\n|$)",
                     lambda found: found[1] or "", piece,
                     flags=re.M | re.S).rstrip("\n")
        if sql:
            yield sql, notes


# ROUTINES are the verbs that exist only on databases with stored routines, such as
# PostgreSQL. NO_ROUTINES are the verbs that exist only on other databases.
ROUTINES = {"enqueue_plain", "enqueue_with_terms",
            "settle_and_claim", "register_waiter",
            "unregister_waiter", "await", "unawait", "claimed_by", "sweep_start",
            "fire_due"}
NO_ROUTINES = {"enqueue_grouped", "enqueue_in_group", "claim", "extra", "payload",
               "complete", "fail", "release", "extend", "refused", "rate_start", "admit",
               "sweep_dropped", "sweep_groups", "schedule_due", "schedule_fired"}


def read_limits(path):
    """Return a dict {name: number} of the limits of readpast.h. The limit RP_MOST_NAME
    has the name most_name."""
    limits = {}
    for name, value in re.findall(r"^#define RP_((?:MOST|LARGE)_\w+) +(.*?)(?: */\*|$)",
                                  pathlib.Path(path).read_text(), re.M):
        value = re.sub(r"RP_(\w+)", lambda m: str(limits[m[1].lower()]), value)
        factors = re.findall(r"\d+", value.replace("INT64_C", ""))
        limits[name.lower()] = math.prod(map(int, factors))
    return limits


def dialect(verbs, limits, folder):
    name = folder.name
    found = {p.stem for p in (folder / "verbs").glob("*.sql")}
    routines = "settle_and_claim" in found
    for verb in sorted(found ^ (set(verbs) - (NO_ROUTINES if routines else ROUTINES))):
        stop(folder / "verbs" / f"{verb}.sql",
             "is not in sql/params" if verb not in verbs
             else "is missing" if verb not in found
             else "is for the other kind of databases, with or without routines")
    print(f"/* Made by tools/embed_sql.py of sql/{name}/. */")
    print('#include "db/sql.h"\n')
    print('#pragma GCC diagnostic ignored "-Woverlength-strings"\n')
    verbs = {verb: verbs[verb] for verb in verbs if verb in found}
    if routines:
        all_calls(verbs, folder, name)
    else:
        all_verbs(verbs, folder, name)
    schema(folder / "schema", name, limits)


def all_verbs(verbs, folder, name):
    for verb, (params, columns) in verbs.items():
        one_verb(folder / "verbs" / f"{verb}.sql", verb, params, columns)
    print(f"const struct rp_sql rp__sql_{name}[RP_VERBS] = {{")
    for verb, (params, columns) in verbs.items():
        text = (folder / "verbs" / f"{verb}.sql").read_text()
        print(f"\t[RP_V_{verb.upper()}] = {{ \"{verb}\", "
              f"{int('(:rows)' in text)}, params_{verb}, {len(params)}, "
              f"{len(columns)}, stmts_{verb}, "
              f"sizeof(stmts_{verb}) / sizeof(*stmts_{verb}) }},")
    print("};\n")


def all_calls(verbs, folder, name):
    calls = {verb: one_call(folder / "verbs" / f"{verb}.sql", verb, *lists)
             for verb, lists in verbs.items()}
    print(f"const struct rp_call rp__calls_{name}[RP_VERBS] = {{")
    for verb, (params, columns) in verbs.items():
        text, binds, many, numbered = calls[verb]
        print(f"\t[RP_V_{verb.upper()}] = {{ \"{verb}\", "
              f"{int(many)}, {int(numbered)}, {len(params)},\n\t\t{quoted(text)},\n"
              f"\t\tbinds_{verb}, {len(binds)} }},")
    print("};\n")


def for_one_row(path, verb, params, sql):
    """Change a statement for many rows into a statement for a single row. The result
    does not read the table of rows, `r`, and has parameters in place of the columns
    of `r`."""
    table = f"readpast_{verb}_rows(:rows) r"
    one, n = re.subn(rf"\bfrom {re.escape(table)}(\s+cross join\b)?",
                     lambda m: "from" if m[1] else "", sql)
    if n != sql.count("(:rows)"):
        stop(path, f"needs `from {table}`, alone or before `cross join`")
    if n == 0:
        return sql
    columns = {"number": "1", "apart": ":apart",
               **{p: f":{p}" for p in params}}
    return re.sub(r"\br\.(\w+)", lambda m: columns.get(m[1], m[0]), one)


def outside_parentheses(sql):
    """Return the text with blanks in place of everything in parentheses or quotes."""
    text, depth = [], 0
    for token in re.findall(r"'(?:[^']|'')*'|.", sql, re.S):
        depth += token == "("
        text.append(token if depth == 0 and len(token) == 1
                    else " " * len(token))
        depth -= token == ")"
    return "".join(text)


def columns_of(sql):
    """Return the names of a statement's result columns, in order."""
    text = outside_parentheses(sql.lstrip("( \n"))
    listed = re.search(r"\b(?:select|returning)\b(.*?)(?=\bfrom\b|\bwhere\b|$)",
                       text, re.S)
    items = listed[1].split(",") if listed else []
    return [re.search(r"(\w*)\s*$", item)[1] for item in items]


def check_columns(path, sql, columns, numbered):
    """Check that the statement has the result columns that sql/params lists. C reads
    them by position."""
    found = columns_of(sql)
    wanted = ["number"] * numbered + columns
    if found[:len(wanted)] != wanted:
        stop(path, f"returns {' '.join(found) or 'nothing'}, but sql/params lists "
                   f"{' '.join(wanted)}")


def check_params(path, sql, known):
    unknown = set(re.findall(r"(?<![\w:]):([a-z_]+)", sql)) - known
    if unknown:
        stop(path, f"uses :{min(unknown)}, which is not in sql/params")


def one_call(path, verb, params, columns):
    """Read a verb for databases with routines. Such a verb is one statement, in which
    $1 and so on replace :name and :name[]. Returns four values: the text; a list of
    (index of the parameter, whether it is an array); whether the statement runs once
    for all rows of parameters; and whether the result begins with a column that has the
    number of the row."""
    found = list(statements(path))
    if len(found) != 1:
        stop(path, f"has {len(found)} statements, and not one")
    sql, _ = found[0]
    check_params(path, sql, set(params))
    names = []

    def place(match):
        if match[0] not in names:
            names.append(match[0])
        return f"${names.index(match[0]) + 1}"

    sql = re.sub(r"(?<![\w:]):[a-z_]+(\[\])?", place, sql)
    binds = [(params.index(n.strip(":[]")), n.endswith("[]")) for n in names]
    print(f"static const struct rp_bind binds_{verb}[] = {{ "
          + "".join(f"{{ {i}, {int(a)} }}, " for i, a in binds) + "{ -1, 0 } };")
    many = any(is_array for _, is_array in binds)
    numbered = many and columns[:1] != ["number"]
    if columns:
        check_columns(path, sql, columns, numbered)
    return sql, binds, many, numbered


def one_verb(path, verb, params, columns):
    known, answers = set(params) | {"now", "now_us", "rows", "taken",
                                   "ids_before", "most_in_row"}, 0
    if "payload" in params:
        known.add("apart")
    names = "".join(f'"{p}", ' for p in params)
    print(f"static const char *const params_{verb}[] = {{ {names}NULL }};")
    print(f"static const struct rp_stmt stmts_{verb}[] = {{")
    for sql, notes in statements(path):
        check_params(path, sql, known)
        answer = any(note.startswith("answer") for note in notes)
        answers += answer
        batch = "answer batch" in notes
        if answer and not batch:
            check_columns(path, sql, columns, False)
        guards = [note.split("@")[1] for note in notes if "@" in note]
        if len(guards) > 1:
            stop(path, f"has a statement with two conditions, @{' and @'.join(guards)}")
        guard = f'"{guards[0]}"' if guards else "NULL"
        rest = any(note.startswith("the rest") for note in notes)
        late = ONE_TAKEN in sql
        if late and notes:
            stop(path, "has an annotation before a statement with `in (:taken)`")
        one = for_one_row(path, verb, params, sql)
        many = sql.replace(ONE_TAKEN, MANY_TAKEN)
        many = quoted(many) if many != one else "NULL"
        print(f"\t{{ {quoted(one)},\n\t\t{many},\n"
              f"\t\t{guard}, {int(rest)}, {int(answer)}, {int(batch)}, "
              f"{int(late)} }},")
    print("};")
    if answers != bool(columns):
        stop(path, "needs `-- answer:` before one statement if sql/params lists "
                   "columns for it, and before none otherwise")


def with_limits(path, text, limits):
    """Return the text with numbers in place of limits such as :most_name."""
    def number(match):
        if match[1] not in limits:
            stop(path, f"uses :{match[1]}, which is no limit of readpast.h")
        return str(limits[match[1]])
    return re.sub(r"(?<!:):((?:most|large)_\w+)", number, text)


def files_of(step):
    """Return the files of a step of the schema. A step is one file, or all files of a
    folder, sorted by name."""
    return sorted(step.rglob("*.sql")) if step.is_dir() else [step]


def schema(folder, name, limits):
    """Print the steps of the schema, and a checksum of their text. Before the first
    release the schema may change without a new version number. The checksum shows such
    a change."""
    steps = sorted(folder.iterdir())
    paths = [p for s in steps for p in files_of(s)]
    build = zlib.crc32("".join(with_limits(p, p.read_text(), limits)
                               for p in paths).encode())
    for number, step in enumerate(steps, 1):
        if not step.name.startswith(f"{number:03}_"):
            stop(step, f"must be step {number:03}: steps have no gaps")
        print(f"static const char *const step_{number}[] = {{")
        for path in files_of(step):
            for sql, _ in statements(path):
                sql = with_limits(path, sql, limits)
                print(f"\t{quoted(sql.replace(':build', str(build)))},")
        print("\tNULL\n};")
    print(f'const char rp__build_{name}[] = "{build}";')
    names = "".join(f"step_{n}, " for n in range(1, len(steps) + 1))
    print(f"const char *const *const rp__schema_{name}[] = {{ {names}NULL }};")


# ---- the scripts of the lab ----


def lab(order, folders):
    """Print the scripts of FOLDER/lab/: first the techniques in the order of the file
    `order`, and then the remaining scripts."""
    names = [line.strip() for line in pathlib.Path(order).read_text().splitlines()
             if line.strip() and not line.startswith("#")]
    print("/* Made by tools/embed_sql.py of the scripts in sql/. */")
    print('#include "lab.h"\n')
    print('#pragma GCC diagnostic ignored "-Woverlength-strings"\n')
    folders = [folder for folder in folders if (folder / "lab").is_dir()]
    for folder in folders:
        one_lab(names, folder)
    print("const struct lab_scripts lab_dialects[] = {")
    for folder in folders:
        print(f'\t{{ "{folder.name}", scripts_{folder.name} }},')
    print("\t{ NULL, NULL }\n};")


def one_lab(names, folder):
    found = {p.stem for p in (folder / "lab").glob("*.sql")}
    for name in sorted((found - {"scratch"}) ^ set(names)):
        stop(folder / "lab" / f"{name}.sql", "is not in sql/techniques"
             if name in found else "is missing")
    scripts = [script(folder / "lab" / f"{name}.sql",
                      f"{folder.name}_{number}")
               for number, name in enumerate([*names, "scratch"])
               if name in found]
    print(f"static const struct lab_script scripts_{folder.name}[] = {{")
    print("".join(scripts) + "\t{ NULL, NULL, NULL, NULL, 0, NULL, NULL }\n};")


SECTIONS = {"setup", "while", "take", "done", "end"}


def script(path, number):
    """Read a script, which has a description, and statements in sections. A line
    such as `-- take:` begins a section. Prints the sections, and returns the
    script's entry in the table."""
    text = path.read_text()
    head = re.match(rf"-- {path.stem}: (.*)\n(?:--.*\n)*", text)
    if not head:
        stop(path, f"does not open with `-- {path.stem}: what it does`")
    parts = re.split(r"^-- (\w+):\n", text[head.end():], flags=re.M)
    sections = list(zip(parts[1::2], parts[2::2]))
    if path.stem != "scratch":
        for section in sorted({name for name, _ in sections} - SECTIONS):
            stop(path, f"has the unknown section {section}")
    for i, (_, body) in enumerate(sections):
        print(f"static const char *const stmts_{number}_{i}[] = {{")
        for piece in filter(str.strip, pieces(body)):
            print(f"\t{quoted(piece.strip(chr(10)))},")
        print("\tNULL\n};")
    print(f"static const struct lab_section sections_{number}[] = {{")
    for i, (section, _) in enumerate(sections):
        print(f'\t{{ "{section}", stmts_{number}_{i} }},')
    print("\t{ NULL, NULL }\n};")
    cannot = re.search(r"^-- cannot: (.*(?:\n-- .*)*)", head[0], re.M)
    needs = re.search(r"^-- needs (\d+): (.*)", head[0], re.M)
    why = literal(cannot[1].replace("\n-- ", " ")) if cannot else "NULL"
    version, feature = (needs[1], literal(needs[2])) if needs else (0, "NULL")
    return (f"\t{{ {literal(path.stem)}, {literal(head[1])},\n\t\t{quoted(text)},\n"
            f"\t\t{why}, {version}, {feature}, sections_{number} }},\n")


def literal(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# ---- the queries of commands ----

# The subfolders that contain queries, each with the parameters that all queries of this
# subfolder get.
ROOMS = {"doctor": {"long_ms", "now_ms"}, "stress": set(),
         "find": {"queue", "queues", "kind", "key", "group", "error", "before",
                  "now_ms", "states", "looks", "every"}}


def indexes_of(folder):
    """Return the names of the indexes that the schema creates. On PostgreSQL these
    include the indexes of constraints. SQLite refuses to drop such an index."""
    names = []
    for path in sorted((folder / "schema").rglob("*.sql")):
        for sql, _ in statements(path):
            names += re.findall(r"^create (?:unique )?index (\w+)", sql)
            table = re.match(r"create (?:unlogged )?table readpast\.(\w+)", sql)
            if table and "primary key" in sql:
                names.append(f"{table[1]}_pkey")
            if table:
                names += [f"{table[1]}_{column}_key" for column in
                          re.findall(r"^\t(\w+) .*\bunique\b", sql, re.M)]
    return names


def queries(folders):
    """Print the queries that commands use besides the verbs. Each file is a query. The
    queries of the doctor and of filters must be single statements, because the rows of
    a query are its result. The text :indexes is replaced by a JSON list of the names of
    the schema's indexes."""
    print("/* Made by tools/embed_sql.py of the queries in sql/. */")
    print('#include "queries.h"\n')
    print('#include <stddef.h>\n')
    print('#pragma GCC diagnostic ignored "-Woverlength-strings"\n')
    print("const struct query queries[] = {")
    for folder in folders:
        indexes = f"'{json.dumps(indexes_of(folder))}'"
        for room, given in ROOMS.items():
            for path in sorted((folder / room).glob("*.sql")):
                found = [sql for sql, _ in statements(path)]
                if room != "stress" and len(found) != 1:
                    stop(path, f"has {len(found)} statements, and not one")
                sql = ";\n".join(found).replace(":indexes", indexes)
                check_params(path, sql, given)
                print(f'\t{{ "{folder.name}", "{room}", "{path.stem}",\n'
                      f"\t\t{quoted(sql)} }},")
    print("\t{ NULL, NULL, NULL, NULL },\n};")


def write(output, depfile, folders, make, *arguments):
    """Write the output for the folders, and a list of the files on which the output
    depends."""
    with output.open("w") as out, contextlib.redirect_stdout(out):
        make(*arguments)
    files = [path for folder in folders
             for path in (folder, *(p for p in folder.rglob("*")
                                    if p.is_dir() or p.suffix == ".sql"))]
    depfile.write_text(f"{output}: {' '.join(map(str, files))}\n")


def main():
    what, *rest = sys.argv[1:]
    if what == "script":
        limits = read_limits(rest[0])
        for path in map(pathlib.Path, rest[1:]):
            print(with_limits(path, path.read_text(), limits))
        return
    if what == "header":
        header(Params(rest[0]))
        return
    if what == "fields":
        fields(Params(rest[0]), rest[1])
        return
    first = {"queries": 0, "lab": 1, "dialect": 2}[what]
    output, depfile, *folders = map(pathlib.Path, rest[first:])
    if what == "queries":
        write(output, depfile, folders, queries, folders)
    elif what == "lab":
        write(output, depfile, folders, lab, rest[0], folders)
    else:
        write(output, depfile, folders, dialect, Params(rest[0]).verbs,
              read_limits(rest[1]), *folders)


main()
