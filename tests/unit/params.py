#!/usr/bin/env python3
"""Test that another order of the parameters in sql/params stops the build or has no
effect.

  params.py SOURCE

Works on a copy of the source, in a temporary directory. Prints TAP.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = ["copy", "found", "inspect", "queue", "settle", "sweep", "unique", "worker"]
VERB = re.compile(r"^(\w+) +(read|write)(.*)$", re.M)
ALIKE = re.compile(r"^alike (\w+): +(.*)$", re.M)


def parameters_of(text):
    """Return a dict {verb: its parameters}."""
    return {verb: rest.split("->")[0].split()
            for verb, _, rest in VERB.findall(text)}


def with_parameters(text, verb, parameters):
    """Return the text with these parameters for the verb."""
    def line(match):
        if match[1] != verb:
            return match[0]
        answer = match[3].partition("->")[1:]
        return " ".join([verb, match[2], *parameters, *answer])
    return VERB.sub(line, text)


def shared(lists):
    """Return the length of the common beginning of the lists."""
    names = [set(n) for n in zip(*lists)]
    return next((i for i, n in enumerate(names) if len(n) > 1), len(names))


def turned_around(text):
    """Return the text with each verb's parameters in reverse order. The parameters that
    an `alike` group has in common are reversed too, but stay in front of the others."""
    known = parameters_of(text)
    cuts = {verb: {0, len(known[verb])} for verb in known}
    for _, verbs in ALIKE.findall(text):
        n = shared([known[verb] for verb in verbs.split()])
        for verb in verbs.split():
            cuts[verb].add(n)
    for verb, parameters in known.items():
        ends = sorted(cuts[verb])
        turned = [p for a, b in zip(ends, ends[1:])
                  for p in reversed(parameters[a:b])]
        text = with_parameters(text, verb, turned)
    return text


def broken(text):
    """For each `alike` group (verbs whose first parameters must be the same), yield the
    group's name and a text with a mistake: one verb of the group has its first
    parameter at the end."""
    known = parameters_of(text)
    for name, verbs in ALIKE.findall(text):
        verb = next((v for v in verbs.split() if len(known[v]) > 1), None)
        if verb and shared([known[v] for v in verbs.split()]):
            first, *others = known[verb]
            yield name, with_parameters(text, verb, [*others, first])


def header(source, text, folder):
    """Make verbs.h and job_fields.h from this text of sql/params."""
    (folder / "params").write_text(text)
    for name, *arguments in (("verbs.h", "header"),
                             ("job_fields.h", "fields", "job")):
        made = subprocess.run(
            [sys.executable, source / "tools/embed_sql.py", arguments[0],
             folder / "params", *arguments[1:]],
            check=True, capture_output=True)
        (folder / name).write_bytes(made.stdout)


def users(source, name):
    """Return the C files that use a parameter of this `alike` group."""
    prefix = re.compile(rf"\b{name.upper()}_(?!MOST_PARAMS|OUT_)[A-Z]")
    return [p for room in ("lib", "copy") for p in (source / room).rglob("*.c")
            if prefix.search(p.read_text())]


def refused(source, folder, name):
    """Return whether one of the files that use the group no longer compiles."""
    for path in users(source, name):
        ran = subprocess.run(
            ["cc", "-fsyntax-only", "-std=gnu11", "-D_GNU_SOURCE", f"-I{folder}",
             f"-I{source}/include", f"-I{source}/lib", f"-I{source}/copy", path],
            capture_output=True, text=True)
        if re.search(rf"{name.upper()}_\w+.? undeclared|undeclared identifier "
                     rf".{name.upper()}_", ran.stderr):
            return True
    return False


def copy_of(source, to):
    """Copy those parts of the source that Meson needs."""
    rooms = re.findall(r"^ *subdir\('(\w+)'\)", (source / "meson.build").read_text(),
                       re.M)
    for room in sorted({*rooms, "include", "man", "completions", "tools", "check",
                        "lab", "docs", "systemd"}):
        shutil.copytree(source / room, to / room)
    for path in (*source.glob("meson*"), *source.glob("*.md")):
        shutil.copy(path, to)


def run(*command, env=None):
    ran = subprocess.run(command, text=True, env=env, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
    if ran.returncode:
        print(*[f"# {line}" for line in ran.stdout.splitlines()[-20:]], sep="\n")
    return ran.returncode == 0


def builds_and_passes(text, folder):
    """Build the copy with this text of sql/params, and run its tests. Yields pairs
    (case, whether it passed)."""
    (folder / "sql/params").write_text(text)
    programs = [f"tests/conformance_{name}" for name in PROGRAMS]
    yield "it builds", (
        run("meson", "setup", folder / "build", folder, "-Dbuildtype=debug")
        and run("ninja", "-C", folder / "build", *programs))
    urls = ["sqlite:"] + ["postgres:"] * ("READPAST_TEST_POSTGRES" in os.environ)
    for program in programs:
        for url in urls:
            both = [url] * (2 if program.endswith("copy") else 1)
            if both != ["postgres:", "postgres:"]:
                yield f"{program} {url} passes", run(folder / "build" / program,
                                                     *both)


def cases(source, folder):
    text = (source / "sql/params").read_text()
    for name, changed in broken(text):
        if not users(source, name):
            continue
        header(source, changed, folder)
        yield f"another order of one of `{name}` stops the build", refused(
            source, folder, name)
    copy = folder / "copy"
    copy.mkdir()
    copy_of(source, copy)
    yield from (("turned around, " + what, good)
                for what, good in builds_and_passes(turned_around(text), copy))


def main():
    count = bad = 0
    with tempfile.TemporaryDirectory() as directory:
        for name, good in cases(pathlib.Path(sys.argv[1]).resolve(),
                                pathlib.Path(directory)):
            count += 1
            bad += not good
            print(f"{'' if good else 'not '}ok {count} - {name}", flush=True)
    print(f"1..{count}")
    sys.exit(bad > 0)


main()
