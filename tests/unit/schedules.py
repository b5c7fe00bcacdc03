#!/usr/bin/python3
"""Test the times at which schedules fire, minute by minute, against Python's zoneinfo.

  schedules.py FIRES

FIRES is the program that is built from fires.c. This test computes the same times in
another way. It parses the spec itself, and checks for each minute of local time around
a change of a zone's clock whether the spec matches the minute. From zoneinfo it gets
the times (in UTC) at which that minute occurs: none, one or two.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import datetime as dt
import os
import random
import subprocess
import sys
import zoneinfo

SEED = int(os.environ.get("READPAST_TEST_SEED", random.randrange(1 << 32)))

# Zones that change their clocks twice a year, in different ways: at whole and half
# hours of UTC, at midnight and near it, by half an hour and by two hours, in the south
# and in the north, and around Ramadan. In Dublin, winter time is the exception, and
# summer time the standard.
ZONES = """
Africa/Cairo Africa/Casablanca America/Havana America/Los_Angeles America/New_York
America/Nuuk America/Santiago America/St_Johns Antarctica/Troll Asia/Beirut Asia/Gaza
Asia/Jerusalem Atlantic/Azores Australia/Lord_Howe Australia/Sydney Europe/Berlin
Europe/Chisinau Europe/Dublin Europe/London Pacific/Chatham
""".split()
# For 2038 and later, the file of a zone lists no clock changes, but has a rule in its
# last line.
YEARS = [*range(2024, 2031), 2038, 2100]
SPECS = """
* * * * *
*/15 * * * *
30 * * * *
0 * * * *
7-59/13 * * * *
0,30 0-3 * * *
*/30 2 * * *
*/30 1-2 * * *
15 */2 * * *
15 0-23/2 * * *
30 2 * * *
30 1 * * *
0 2 * * *
0 3 * * *
0 1 * * *
0 0 * * *
59 23 * * *
30 0 * * *
0 0,1,2,3,4 * * *
45 0-4 * * *
1-59/2 2-3 * * *
0 12 * * 1-5
30 2 * * 7
30 2 * * SUN
0 0 * * FRI,SAT
0 0 1 * *
30 2 25-31 * 0
30 2 25-31 3,10 *
0 2 */2 * *
0 2 */2 * 0
30 1 * * */2
0 0 29 2 *
0 0 31 * *
30 2 * MAR-APR sun
30 0-2 1-7 4,10,11 *
15 3 8-14 mar *
0 5 1,15 * 5
@daily
@hourly
@weekly
""".strip().splitlines()

NICKNAMES = {"@daily": "0 0 * * *", "@hourly": "0 * * * *", "@weekly": "0 0 * * 0"}
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
DAYS = "sun mon tue wed thu fri sat".split()
UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1)
MINUTE = dt.timedelta(minutes=1)
AROUND = 15 * 3600  # compare this many seconds before and after a zone's offset changes

cases = bad = 0


def check(name, wrong):
    global cases, bad
    cases += 1
    bad += bool(wrong)
    print(f"{'not ' if wrong else ''}ok {cases} - {name}")
    for line in wrong[:10]:
        print("#", line)


def members(field, least, most, names=()):
    """Return the numbers that a field of a spec matches."""
    def number(text):
        text = text.lower()
        return names.index(text) + least if text in names else int(text)

    found = set()
    for item in field.split(","):
        span, _, step = item.partition("/")
        first, _, last = span.partition("-")
        first, last = (least, most) if span == "*" else (number(first), number(last or first))
        found.update(range(first, last + 1, int(step or 1)))
    return found


class Spec:
    def __init__(self, text):
        minute, hour, day, month, weekday = NICKNAMES.get(text, text).split()
        self.minutes = members(minute, 0, 59)
        self.hours = members(hour, 0, 23)
        self.days = members(day, 1, 31)
        self.months = members(month, 1, 12, MONTHS)
        self.weekdays = {n % 7 for n in members(weekday, 0, 7 if weekday != "*" else 6, DAYS)}
        if weekday.startswith("*"):
            self.weekdays = {n % 7 for n in members(weekday, 0, 6)}
        self.either = day[0] != "*" and weekday[0] != "*"
        self.twice = minute[0] == "*" or hour[0] == "*"

    def has_day(self, date):
        by_date, by_weekday = date.day in self.days, date.isoweekday() % 7 in self.weekdays
        both = by_date or by_weekday if self.either else by_date and by_weekday
        return both and date.month in self.months


class Window:
    """The local minutes around a change of the clock, and the times at which each of
    them occurs."""

    def __init__(self, name, change):
        zone = zoneinfo.ZoneInfo(name)
        self.name, self.change = name, change
        self.start, self.end = change - AROUND, change + AROUND
        self.days = {}  # {date: {(hour, minute): times when it occurs}}
        offsets = [offset(zone, self.start), offset(zone, self.end)]
        local = EPOCH + dt.timedelta(seconds=self.start // 60 * 60 - 60) + min(offsets)
        local = local.replace(second=0)
        last = EPOCH + dt.timedelta(seconds=self.end + 60) + max(offsets)
        while local < last:
            times = set()
            for fold in 0, 1:
                at = local.replace(tzinfo=zone, fold=fold).astimezone(UTC)
                if at.astimezone(zone).replace(tzinfo=None) == local:
                    times.add(round(at.timestamp()))
            minutes = self.days.setdefault(local.date(), {})
            minutes[local.hour, local.minute] = sorted(times)
            local += MINUTE

    def fires(self, spec):
        """Return what fires.c must print for this spec, as lists of numbers."""
        fires, skipped, doubled = {}, [], []
        for date, minutes in self.days.items():
            if not spec.has_day(date):
                continue
            midnight = (dt.datetime.combine(date, dt.time()) - EPOCH) // MINUTE
            for hour in spec.hours:
                for minute in spec.minutes:
                    if (hour, minute) not in minutes:
                        continue
                    times = minutes[hour, minute]
                    local = midnight + hour * 60 + minute
                    if not times:
                        skipped.append(local)
                    if len(times) == 2:
                        doubled.append((times[1], local))
                    for at in times if spec.twice else times[:1]:
                        fires[at] = local
        lines, before = [], self.start
        for at in sorted(at for at in fires if self.start < at <= self.end):
            gone = skipped if before < self.change <= at else []
            again = [local for when, local in doubled if before < when <= at]
            lines.append([at, fires[at] * 60 - at, len(gone), min(gone, default=0),
                          len(again), min(again, default=0)])
            before = at
        return lines


def offset(zone, second):
    return dt.datetime.fromtimestamp(second, UTC).astimezone(zone).utcoffset()


def changes(name, start, end):
    """Return the seconds at which a zone's distance from UTC changes."""
    zone, step = zoneinfo.ZoneInfo(name), 6 * 3600
    before = offset(zone, start)
    for second in range(start, end, step):
        after = offset(zone, second + step)
        if after != before:
            low, high = second, second + step
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(zone, middle) == before else (low, middle)
            yield high
            before = after


def year(n):
    return round(dt.datetime(n, 1, 1, tzinfo=UTC).timestamp())


def ask(windows, specs):
    """Return what fires.c prints: a list of lines for each window and spec."""
    asked = "".join(f"{w.name}\t{spec}\t{w.start}\t{w.end}\n" for w in windows for spec in specs(w))
    out = subprocess.run([sys.argv[1]], input=asked, text=True, check=True,
                         stdout=subprocess.PIPE).stdout
    return out.split(".\n")[:-1]


def compare(windows, specs):
    answers = iter(ask(windows, specs))
    parsed = {}
    for window in windows:
        for text in specs(window):
            spec = parsed.setdefault(text, Spec(text))
            got = next(answers).splitlines()
            wanted = [" ".join(map(str, line)) for line in window.fires(spec)]
            if got != wanted:
                odd = next((a, b) for a, b in zip(got + [None], wanted + [None]) if a != b)
                yield f"{window.name} {text} after {window.start}: {odd[0]}, expected {odd[1]}"


def random_field(rng, least, most):
    kind = rng.randrange(5)
    a, b = sorted(rng.randint(least, most) for _ in range(2))
    step = rng.randint(1, most - least)
    return ["*", f"*/{step}", f"{a}-{b}/{step}", f"{a},{b}", f"{a}"][kind]


def random_spec(rng):
    return " ".join([random_field(rng, 0, 59), random_field(rng, 0, 23),
                     rng.choice(["*", "*/2", random_field(rng, 1, 31)]), "*",
                     rng.choice(["*", "*/2", random_field(rng, 0, 6)])])


def main():
    assert len(ZONES) == 20 and len(SPECS) == 40
    for name in ZONES:
        windows = [Window(name, change) for y in YEARS
                   for change in changes(name, year(y), year(y + 1))]
        few = len(windows) < 2 * len(YEARS) - 4  # Morocco has no changes in 2100
        check(f"{len(SPECS)} specs around the {len(windows)} changes of {name}",
              ["too few changes"] * few + list(compare(windows, lambda w: SPECS)))

    rng = random.Random(SEED)
    names = sorted(n for n in zoneinfo.available_timezones() if n[0].isupper())
    windows = []
    for name in rng.sample(names, 60) + ["Pacific/Apia", "Africa/Monrovia", "Asia/Pyongyang"]:
        found = list(changes(name, year(1971), year(2037)))
        windows += [Window(name, change) for change in rng.sample(found, min(3, len(found)))
                    if not any(0 < abs(other - change) < 4 * AROUND for other in found)]
    drawn = {window: [random_spec(rng) for _ in range(20)] for window in windows}
    check(f"random specs around {len(windows)} changes since 1971 (seed {SEED})",
          list(compare(windows, drawn.get)))
    print(f"1..{cases}")
    sys.exit(bad > 0)


main()
