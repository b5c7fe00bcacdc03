#!/usr/bin/env python3
"""Compare the manual and the completions with the program and the header.

  tools/check_docs.py READPAST [SOURCE]

The facts come from the program (its help, a new queue's settings), the header,
tests/abi/exports.txt and cli/cmd.h. The help of a command is generated from the
table of its options. This script reports each fact that a document lacks, and
each statement of a document that is not among the facts. It prints TAP, and
exits with 0 only if it has nothing to report.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

# The first words of the commands whose names have two words.
GROUPS = ("queue", "cron", "token")
OPTION = re.compile(r"(?<![\w-])--?[a-z0-9][a-z-]*")


def spelled(pairs):
    """Return a set of options such as {--delay=, --json}. Each pair consists of an
    option and whether the option takes a value."""
    return {option + "=" * bool(value) for option, value in pairs}


class Program:
    """The output of `readpast`, run with different arguments."""

    def __init__(self, path, directory):
        self.path = path
        self.directory = directory
        said = self.run("help")
        self.commands = re.findall(r"^  (\w+(?: \w+)?)  +\S", said, re.M)
        self.techniques = re.findall(r"^(\S+)", self.run("lab", "--list"), re.M)
        self.globals = {"--help", "--version", *OPTION.findall(said.splitlines()[0])}

    @functools.cache
    def run(self, *arguments):
        env = {k: v for k, v in os.environ.items() if "READPAST" not in k}
        return subprocess.run(
            [self.path, *arguments], cwd=self.directory, env=env, text=True,
            check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        ).stdout

    def help(self, command):
        return self.run(*command.split(), "--help")

    def options(self, command):
        """Return the options in the table of the help: `  --delay D  what it does`. An
        option whose value may be left out, such as --drain[=settled], counts as an
        option without a value."""
        return spelled(re.findall(r"^  (--?[a-z0-9][a-z-]*)(?:\[\S+\])?( \S+)?(?=  )",
                                  self.help(command), re.M))

    def unknown(self, command):
        """Return the options of the usage line that the table does not have."""
        usage = self.help(command).splitlines()[0]
        known = {option.rstrip("=") for option in self.options(command)}
        return set(OPTION.findall(usage)) - known - self.globals

    def statuses(self, command):
        """Return the exit statuses of a handler, which the help lists in this form:
        `0: done; 65: dead`."""
        return set(re.findall(r"\b(\d+): [a-z]", self.help(command)))

    def settings(self):
        self.run("queue", "set", "x")
        return dict(re.findall(r"^  (\S+) +(\S+)$", self.run("queue", "list"), re.M))


# ---- read each document into a dict {command: its options} ----


def of_cases(text, options):
    """Return the options in each branch of a `case` command of a shell script. The
    command is the first line `case $1 in` with an indent of one tab. If two branches
    have the same name, the first branch counts, as in the shell."""
    text = re.search(r"^\tcase \$1 in\n(.*?)^\tesac", text, re.M | re.S)[1]
    cases = re.findall(r"^\t'?([a-z][a-z ]*)'?\)(.*?)(?=^\t[^\t]|\Z)", text, re.M | re.S)
    return {name: spelled(options.findall(body)) for name, body in reversed(cases)}


def of_bash(text):
    found = of_cases(text, re.compile(f"({OPTION.pattern})(=?)"))
    words = re.search(r"local commands=\((.*?)\)", text, re.S)[1].split()
    for group in GROUPS:
        offered = re.search(rf"{group}\) _readpast_offer (.*) ;;", text)[1]
        words += [f"{group} {w}" for w in offered.split()]
    return {name: found.get(name, set()) for name in words}


def of_zsh(text):
    body = text[text.index("\n_readpast_command()"):]
    found = of_cases(body, re.compile(
        r"(--?[a-z0-9][a-z-]*)=?\[[^]]*\](:|'\$queue)?"))
    words = re.findall(r"^\t\t'([a-z]+):", text, re.M)
    for group in GROUPS:
        offered = re.search(rf"== {group} \]\].*?compadd ([a-z ]+)$", text, re.M | re.S)[1]
        words += [f"{group} {w}" for w in offered.split()]
    return {name: found.get(name, set()) for name in words}


def without_loops(text):
    """Return a script of fish in which the lines of each loop over commands are repeated
    for each command."""
    def repeat(loop):
        return "".join(loop[2].replace('"__readpast_in $command"', f"'__readpast_in {command}'")
                       for command in shlex.split(loop[1].replace("\\\n", " ")))

    loop = re.compile(r"^for command in ((?:.*\\\n)*.*)\n((?: .*\n)+)end$", re.M)
    return loop.sub(repeat, text)


def of_fish(text):
    text = without_loops(text)
    words = re.findall(r"-n __readpast_in -a (\w+)", text)
    for group in GROUPS:
        offered = re.search(rf"\)\" = {group}' -a '(.*)'", text)[1]
        words += [f"{group} {w}" for w in offered.split()]
    found = {name: set() for name in words}
    line = re.compile(r"-n '__readpast_in ([a-z ]+)' -([los]) (\S+)( -[xr])?")
    for name, kind, option, value in line.findall(text):
        dashes = "--" if kind == "l" else "-"
        found.setdefault(name, set()).update(spelled([(dashes + option, value)]))
    return found


def of_man(text):
    """Return the options of each command, which begins with `.It Cm` in the manual
    page. Options before the list of a subsection apply to all commands of that list. An
    option takes a value if at least one mention of the option has a value."""
    def options(text):
        pairs = re.findall(r"\bFl (-?\w[a-z-]*)(?=( (?:Ar|Cm) )?)", text)
        valued = {option for option, value in pairs if value}
        return spelled((f"-{o}", o in valued) for o, _ in pairs)

    found, common = {}, {}
    for section in re.split(r"^\.S[sh] ", text, flags=re.M):
        head, *items = re.split(r"^(?=\.It Cm )", section, flags=re.M)
        for item in items:
            for name in re.findall(rf"\bCm ((?:(?:{'|'.join(GROUPS)}) )?[a-z]+)", item.splitlines()[0]):
                found.setdefault(name, set()).update(options(item))
                common[name] = options(head)
    return found, common


def of_messages(source):
    """Yield the messages: all string literals of the C sources, with adjacent literals
    joined, and all literals of the SQL files."""
    for directory in ("base", "check", "cli", "copy", "doctor", "ext", "lab", "lib",
                      "serve", "stress"):
        for path in sorted((source / directory).glob("**/*.c")):
            text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
            yield from re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r'"\s+"', "", text))
    for path in sorted((source / "sql").glob("**/*.sql")):
        yield from re.findall(r"'([^']*)'", re.sub(r"--.*", "", path.read_text()))


# ---- comparisons ----


def compare(program, found, common={}):
    for command in program.commands:
        if command not in found:
            yield f"no command {command}"
            continue
        has = program.options(command)
        also = common.get(command, set())
        yield from (f"{command}: no {o}" for o in sorted(has - found[command] - also))
        more = {option for option in found[command] - has
                if option.rstrip("=") not in program.globals}
        yield from (f"{command}: has no {o}" for o in sorted(more))
    aliases = {*GROUPS, "queue pause", "queue resume"}
    for name in sorted(set(found) - set(program.commands) - aliases):
        yield f"there is no command {name}"


def not_installed(messages, pages):
    """Yield each message that names a page of the source instead of a page of the
    manual. Users have the manual, but may not have the source."""
    for message in messages:
        for name in re.findall(r"[\w./-]+\.md\b", message):
            yield f"a message names {name}: name a manual page"
        for page, title in re.findall(r"readpast\((\d)\), ([A-Z][\w ]*\w)", message):
            if not re.search(rf"^\.(Sh|Ss|It) {title}$", pages[page], re.M):
                yield f"readpast({page}) has no {title}"


def lacking(what, wanted, there):
    return (f"no {what} {w}" for w in sorted(set(wanted) - set(there)))


def beyond(there, wanted):
    return (f"there is no {w}" for w in sorted(set(there) - set(wanted)))


def of_header(text):
    """Return four sets of the names that the header defines: errors, states, other
    numbers, and all names."""
    errors = re.findall(r"\bX\((E[A-Z]+), -\d+", text)
    states = re.findall(r'\bX\(([A-Z]+), \d+, "', text)
    others = re.findall(r"^#define (RP_[A-Z_]+) \d+", text, re.M)
    return (
        {f"RP_{e}" for e in errors},
        {f"RP_STATE_{s}" for s in states},
        set(others),
        set(re.findall(r"^#define (RP_[A-Z_]+)", text, re.M)),
    )


def checks(program, source):
    def read(path):
        return (source / path).read_text()

    page, calls, model = (read(f"man/readpast.{n}") for n in (1, 3, 7))
    errors, states, others, defined = of_header(read("include/readpast.h"))
    exports = read("tests/abi/exports.txt").split()
    enum = " ".join(re.findall(r"^enum \{ (\w+ = \d.*?) \};", read("cli/cmd.h"),
                               re.M))

    yield "help: options in usage lines", (
        f"{command}: no {option}" for command in program.commands
        for option in sorted(program.unknown(command)))

    yield "messages: pages that they name", not_installed(
        of_messages(source), {"1": page, "3": calls, "7": model})

    # readpast(1)
    found, common = of_man(page)
    yield "readpast(1): commands and their options", compare(program, found, common)
    yield "readpast(1): options in front of the command", lacking(
        "option", program.globals, (f"-{f}" for f in re.findall(r"\bFl (-\w+)", page)))
    statuses = page[page.index(".Sh EXIT STATUS"):]
    yield "readpast(1): exit statuses", lacking(
        "status", re.findall(r"= (\d+)", enum),
        re.findall(r"^\.It (\d+)$", statuses, re.M))
    work = re.search(r"^\.It Cm work .*?^\.It Cm ", page, re.M | re.S)[0]
    yield "readpast(1): a handler's exit statuses", lacking(
        "status", program.statuses("work"), re.findall(r"\d+", work))

    lab = re.search(r"^\.It Cm lab .*?^\.Bl", page, re.M | re.S)[0]
    yield "readpast(1): techniques of the lab", lacking(
        "technique", program.techniques, re.findall(r"[\w-]+", lab))

    doctor = re.search(r"^\.It Cm doctor .*?^\.Ss", page, re.M | re.S)[0]
    yield "readpast(1): checks of the doctor", lacking(
        "check", re.findall(r'^\t\{ "([a-z]+)", [A-Z_]+,',
                            read("doctor/checks.c"), re.M),
        re.findall(r"^\.It Li (\w+)$", doctor, re.M))

    limits = dict(re.findall(r"^#define RP_MOST_([A-Z]+) (\d+)",
                             read("include/readpast.h"), re.M))
    most = f"0 to {limits['PRIORITY']}"
    yield "readpast(1): limits", lacking(
        "limit", [most, f"at most {limits['DAYS']}d"],
        re.findall(r"0 to \d+|at most \d+d", page))
    yield "readpast(7): limits", lacking(
        "limit", [most], re.findall(r"0 to \d+", model))

    # completions
    words = [s.removeprefix("RP_STATE_").lower() for s in states]
    for name, of in ("readpast.bash", of_bash), ("_readpast", of_zsh), ("readpast.fish", of_fish):
        text = read(f"completions/{name}")
        yield f"{name}: commands and their options", compare(program, of(text))
        yield f"{name}: options in front of the command", lacking(
            "option", program.globals,
            OPTION.findall(re.sub(r"-l (\w+)", r"--\1", text)))
        offered = " ".join(re.findall(r".*(?:state|offer).*", text))
        yield f"{name}: states", lacking("state", words, re.findall(r"\w+", offered))
        yield f"{name}: techniques of the lab", lacking(
            "technique", program.techniques, re.findall(r"[\w-]+", text))

    # readpast(3)
    functions = re.findall(r"\bFn (rp_\w+)", calls)
    named = set(re.findall(r"\bRP_[A-Z_]*[A-Z]\b(?![_*])", calls))
    items = re.findall(r"^\.It Dv (\S+)$", calls, re.M)
    yield "readpast(3): functions", (
        *lacking("function", exports, functions),
        *beyond(functions + re.findall(r"\bFn (rp_\w+)", model), exports))
    yield "readpast(3): a line for each error", lacking("error", errors, items)
    yield "readpast(3): a line for each state", lacking("state", states, items)
    verdicts = {"RP_DONE", "RP_FAIL", "RP_DEAD", "RP_RELEASE", "RP_EXTEND"}
    yield "readpast(3): a line for each verdict", lacking("verdict", verdicts, items)
    yield "readpast(3): the other constants", (
        *lacking("constant", others, named),
        *beyond(named, errors | states | defined))

    # readpast(7)
    settings = re.findall(r"^\.It Cm (\S+) Ta (\S+) Ta", model, re.M)
    yield "readpast(7): settings and their defaults", (
        *lacking("setting", map(" ".join, program.settings().items()),
                 map(" ".join, settings)),
        *beyond(map(" ".join, settings), map(" ".join, program.settings().items())))
    yield "readpast(7): states", lacking(
        "state", words, re.findall(r"^\.It Cm (\w+)$", model, re.M))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.splitlines()[2].strip())
    source = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else ".").resolve()
    cases = bad = 0
    with tempfile.TemporaryDirectory() as directory:
        program = Program(pathlib.Path(sys.argv[1]).resolve(), directory)
        for name, problems in checks(program, source):
            problems = list(problems)
            cases += 1
            bad += bool(problems)
            print(f"{'not ' * bool(problems)}ok {cases} - {name}")
            for problem in problems:
                print(f"# {name.split(':')[0]}: {problem}")
    print(f"1..{cases}")
    sys.exit(bad > 0)


main()
