// A small line without axes, for a row of a table.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

const WIDTH = 120;
const HEIGHT = 24;
/** The number of points in the line: one a second, for two minutes. The line is WIDTH
 * pixels wide, so it has no room for more. */
const POINTS = 120;

function path(values: (number | null)[], top: number): string {
	let text = "";
	let drawing = false;
	for (const [i, value] of values.entries()) {
		if (value === null) {
			drawing = false;
			continue;
		}
		const x = WIDTH - values.length + i + 0.5;
		const y = HEIGHT - 1 - (value / top) * (HEIGHT - 3);
		text += `${drawing ? "L" : "M"}${x} ${y.toFixed(1)}`;
		drawing = true;
	}
	return text;
}

export function Spark({ done, failed }: { done: (number | null)[]; failed: (number | null)[] }) {
	const good = done.slice(-POINTS);
	const bad = failed.slice(-POINTS);
	const top = Math.max(1, ...good.map((n) => n ?? 0), ...bad.map((n) => n ?? 0));
	return (
		<svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
			<path class="base" d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
			<path class="done" d={path(good, top)} />
			{bad.some((n) => n) && <path class="failed" d={path(bad, top)} />}
		</svg>
	);
}
