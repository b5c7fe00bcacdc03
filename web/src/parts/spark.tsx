// A small line without axes, for a row of a table.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import type { History } from "../live";

/** The width in pixels, and in seconds: one point a second, for two minutes. */
const WIDTH = 120;
const HEIGHT = 24;

function path(xs: number[], values: (number | null)[], top: number): string {
	let text = "";
	let drawing = false;
	for (const [i, value] of values.entries()) {
		if (value === null) {
			drawing = false;
			continue;
		}
		const x = xs[i] ?? 0;
		const y = HEIGHT - 1 - (value / top) * (HEIGHT - 3);
		text += `${drawing ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
		drawing = true;
	}
	return text;
}

export function Spark({ history }: { history: History }) {
	const end = history.at.at(-1) ?? 0;
	const first = history.at.findIndex((at) => at > end - WIDTH);
	const xs = history.at.slice(first).map((at) => WIDTH - 0.5 - (end - at));
	const good = history.done.slice(first);
	const bad = history.failed.slice(first);
	const top = Math.max(1, ...good.map((n) => n ?? 0), ...bad.map((n) => n ?? 0));
	return (
		<svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
			<path class="base" d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
			<path class="done" d={path(xs, good, top)} />
			{bad.some((n) => n) && <path class="failed" d={path(xs, bad, top)} />}
		</svg>
	);
}
