#!/usr/bin/env python3
"""Make C of sql/: the list of verbs, and one dialect's statements.

  embed_sql.py header PARAMS           > verbs.h
  embed_sql.py dialect PARAMS FOLDER OUTPUT DEPFILE

Stops the build, with one line that says why, when a folder lacks a verb, has
an unknown one, or a statement uses a parameter that nothing gives.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import contextlib
import pathlib
import re
import sys


# What was taken of an answer: one id in turn, or all as a table.
ONE_TAKEN = "in (:taken)"
MANY_TAKEN = "in (select id from readpast_taken(:taken))"


def stop(where, why):
    sys.exit(f"{where}: {why}")


def read_params(path):
    """The verbs, in order: {name: (writes, parameters, columns)}, and the
    groups of columns: {name: columns}."""
    verbs, groups = {}, {}
    for line in pathlib.Path(path).read_text().splitlines():
        line = line.split("#")[0]
        if not line.strip():
            continue
        if "=" in line:
            name, columns = line.split("=")
            groups[name.strip()] = columns.split()
            continue
        left, _, right = line.partition("->")
        name, mode, *params = left.split()
        if mode not in ("read", "write") or name in verbs:
            stop(path, f"{name}: not `read` or `write`, or there twice")
        columns = [c for word in right.split() for c in groups.get(word, [word])]
        verbs[name] = (mode == "write", params, columns)
    return verbs, groups


def header(verbs, groups):
    print("/* Made by tools/embed_sql.py of sql/params. */")
    print("#ifndef RP_VERBS_H\n#define RP_VERBS_H\n")
    print("enum rp_verb {")
    for name in verbs:
        print(f"\tRP_V_{name.upper()},")
    print("\tRP_VERBS\n};\n")
    for name, columns in groups.items():
        names = [f"{name.upper()}_{c.upper()}" for c in columns]
        print(f"enum {{ {', '.join(names)}, {name.upper()}_COLUMNS }};")
    for name, (_, params, columns) in verbs.items():
        upper = name.upper()
        names = [f"{upper}_{p.upper()}" for p in params]
        print(f"enum {{ {', '.join(names + [upper + '_PARAMS'])} }};")
        if columns:
            names = [f"{upper}_OUT_{c.upper()}" for c in columns]
            print(f"enum {{ {', '.join(names + [upper + '_COLUMNS'])} }};")
    print("\n#endif")


def quoted(text):
    lines = text.replace("\\", "\\\\").replace('"', '\\"').split("\n")
    return "\n\t\t".join(f'"{line}\\n"' for line in lines)


def statements(path):
    """(text, annotations) of each statement; annotations are `-- word ...:`
    comment lines right before it."""
    text = path.read_text()
    if not re.match(rf"-- ({path.stem}: |Schema \d)", text):
        stop(path, f"does not open with `-- {path.stem}: what it does`")
    for piece in re.split(r";[ \t]*(?:\n|$)", text):
        notes = re.findall(r"^-- (answer|answer batch|if @\w+):$", piece, re.M)
        sql = "\n".join(line for line in piece.split("\n")
                        if line.strip() and not line.startswith("--"))
        if sql:
            yield sql, notes


def dialect(verbs, folder):
    name = folder.name
    found = {p.stem for p in folder.glob("*.sql")}
    for verb in sorted(found ^ set(verbs)):
        stop(folder / f"{verb}.sql",
             "is missing" if verb in verbs else "is not in sql/params")
    print(f"/* Made by tools/embed_sql.py of sql/{name}/. */")
    print('#include "sql.h"\n')
    for verb, (_, params, columns) in verbs.items():
        one_verb(folder / f"{verb}.sql", verb, params, columns)
    print(f"const struct rp_sql rp__sql_{name}[RP_VERBS] = {{")
    for verb, (writes, params, _) in verbs.items():
        text = (folder / f"{verb}.sql").read_text()
        batch = "(:rows)" in text
        print(f"\t{{ \"{verb}\", {int(writes)}, {int(batch)}, "
              f"params_{verb}, {len(params)}, "
              f"stmts_{verb}, sizeof(stmts_{verb}) / sizeof(*stmts_{verb}) }},")
    print("};\n")
    schema(folder / "schema", name)


def for_one_row(path, verb, params, sql):
    """The statement without the table of rows, `r`, that stands in front in a
    `from`: for one row its columns are the parameters."""
    table = f"readpast_{verb}_rows(:rows) r"
    one, n = re.subn(rf"\bfrom {re.escape(table)}(\s+cross join\b)?",
                     lambda m: "from" if m[1] else "", sql)
    if n != sql.count("(:rows)"):
        stop(path, f"needs `from {table}`, alone or before `cross join`")
    if n == 0:
        return sql
    columns = {"number": "1", **{p: f":{p}" for p in params}}
    return re.sub(r"\br\.(\w+)", lambda m: columns.get(m[1], m[0]), one)


def one_verb(path, verb, params, columns):
    known, answers = set(params) | {"now", "now_us", "rows", "taken"}, 0
    names = "".join(f'"{p}", ' for p in params)
    print(f"static const char *const params_{verb}[] = {{ {names}NULL }};")
    print(f"static const struct rp_stmt stmts_{verb}[] = {{")
    for sql, notes in statements(path):
        used = set(re.findall(r"(?<![\w:]):([a-z_]+)", sql))
        if used - known:
            stop(path, f"uses :{min(used - known)}, which is not in sql/params")
        answer = any(note.startswith("answer") for note in notes)
        answers += answer
        batch = "answer batch" in notes
        guard = [note[len("if @"):] for note in notes if note[:2] == "if"]
        guard = f'"{guard[0]}"' if guard else "NULL"
        late = ONE_TAKEN in sql
        if late and notes:
            stop(path, "has an annotation at a statement about what was taken")
        one = for_one_row(path, verb, params, sql)
        many = sql.replace(ONE_TAKEN, MANY_TAKEN)
        many = quoted(many) if many != one else "NULL"
        print(f"\t{{ {quoted(one)},\n\t\t{many},\n"
              f"\t\t{guard}, {int(answer)}, {int(batch)}, {int(late)} }},")
    print("};")
    if answers != bool(columns):
        stop(path, "needs `-- answer:` before one statement if, and only if, "
                   "sql/params names columns")


def schema(folder, name):
    steps = sorted(folder.glob("*.sql"))
    for number, path in enumerate(steps, 1):
        if not path.name.startswith(f"{number:03}_"):
            stop(path, f"is not step {number:03}")
        print(f"static const char *const step_{number}[] = {{")
        for sql, _ in statements(path):
            print(f"\t{quoted(sql)},")
        print("\tNULL\n};")
    names = "".join(f"step_{n}, " for n in range(1, len(steps) + 1))
    print(f"const char *const *const rp__schema_{name}[] = {{ {names}NULL }};")


def main():
    verbs, groups = read_params(sys.argv[2])
    if sys.argv[1] == "header":
        header(verbs, groups)
    else:
        folder, output, depfile = map(pathlib.Path, sys.argv[3:6])
        with output.open("w") as out, contextlib.redirect_stdout(out):
            dialect(verbs, folder)
        files = [folder, folder / "schema", *folder.rglob("*.sql")]
        depfile.write_text(f"{output}: {' '.join(map(str, files))}\n")


main()
