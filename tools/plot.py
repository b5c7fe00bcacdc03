#!/usr/bin/env python3
"""plot.py TITLE FIGURE.csv FIGURE.svg - draw the rates that a benchmark measured, as an
SVG.

A line of the CSV is `series,second,jobs`. The colours are neither light nor dark, and
there is no background, so the plot is legible on light and on dark pages.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import csv
import sys
from html import escape

WIDTH, HEIGHT = 720, 340
LEFT, RIGHT, TOP, BOTTOM = 60, 16, 62, 44
GREY = "#7d8590"
COLOURS = ["#3b82f6", "#e0823d", "#2da44e", "#c2457a", "#8a63d2"]


def step(most, wanted):
    """Return the smallest round number that is at least `most` / `wanted`.
    This number is the distance between two marks on an axis."""
    size = 1
    while True:
        for n in (1, 2, 5):
            if n * size * wanted >= most:
                return n * size
        size *= 10


def read(path):
    series = {}
    with open(path, newline="", encoding="utf-8") as file:
        for name, second, jobs in csv.reader(file):
            series.setdefault(name, []).append((float(second), float(jobs)))
    return series


def text(x, y, words, anchor="middle", more=""):
    return (f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{more}>'
            f"{escape(words)}</text>")


def axes(seconds, jobs, at):
    out = []
    n = step(jobs, 6)
    for i in range(int(jobs / n) + 1):
        _, y = at(0, i * n)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" '
                   f'y2="{y:.1f}" stroke="{GREY}" stroke-opacity="'
                   f'{0.25 if i else 1}"/>')
        label = f"{i * n / 1000:g}k" if n >= 100 else f"{i * n:g}"
        out.append(text(LEFT - 8, y + 4, label if i else "0", "end"))
    n = step(seconds, 8)
    for i in range(int(seconds / n) + 1):
        x, y = at(i * n, 0)
        out.append(text(x, y + 18, f"{i * n:g}"))
    out.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "seconds"))
    out.append(text(14, (TOP + HEIGHT - BOTTOM) / 2, "jobs/s", more=(
        f' transform="rotate(-90 14 {(TOP + HEIGHT - BOTTOM) / 2:g})"')))
    return out


def draw(title, series):
    seconds = max((s for points in series.values() for s, _ in points), default=1)
    jobs = max((j for points in series.values() for _, j in points), default=1)

    def at(s, j):
        return (LEFT + s / seconds * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - j / (jobs * 1.04) * (HEIGHT - TOP - BOTTOM))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} '
           f'{HEIGHT}" font-family="sans-serif" font-size="12" fill="{GREY}">',
           f"<title>{escape(title)}</title>",
           text(LEFT, 20, title, "start", ' font-size="15"')]
    out += axes(seconds, jobs, at)
    x = LEFT
    for (name, points), colour in zip(series.items(), COLOURS):
        line = " ".join("%.1f,%.1f" % at(s, j) for s, j in points)
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" '
                   f'stroke-linejoin="round" points="{line}"/>')
        out.append(f'<rect x="{x}" y="36" width="14" height="4" '
                   f'fill="{colour}"/>')
        out.append(text(x + 20, 42, name, "start"))
        x += 44 + 7 * len(name)
    return "\n".join(out + ["</svg>", ""])


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: plot.py TITLE FIGURE.csv FIGURE.svg")
    title, source, target = sys.argv[1:]
    drawn = draw(title, read(source))
    with open(target, "w", encoding="utf-8") as file:
        file.write(drawn)


main()
