// Numbers, spans and times as people read them.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

// Intl is not used: its first use in a tab takes about 50 ms, because the browser then
// reads its tables of all languages, and every page would wait for that.

/** Write a whole number with commas between the thousands. */
function grouped(n: number): string {
	return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function count(n: number | null | undefined, atLeast?: boolean): string {
	if (n === null || n === undefined) return "–";
	if (atLeast) return n >= 10000 ? `${Math.floor(n / 1000)}k+` : `${grouped(n)}+`;
	return grouped(n);
}

/** A rate a second: three digits are enough to compare. */
export function rate(perSecond: number): string {
	if (perSecond === 0) return "0";
	if (perSecond < 10) return perSecond.toFixed(1);
	return grouped(Math.round(perSecond));
}

export function plural(n: number, one: string, many = `${one}s`): string {
	return `${grouped(n)} ${n === 1 ? one : many}`;
}

const UNITS: [number, string][] = [
	[86400000, "d"],
	[3600000, "h"],
	[60000, "m"],
	[1000, "s"],
];

/** A span of time, cut to its largest unit, or to two if the first is below 10: "3d 4h",
 * "12h", "80ms". */
export function span(ms: number | null): string {
	if (ms === null) return "–";
	if (ms <= 0) return "0s";
	if (ms < 1000) return `${Math.round(ms)}ms`;
	for (const [i, [size, unit]] of UNITS.entries()) {
		if (ms < size) continue;
		const whole = Math.floor(ms / size);
		const next = UNITS[i + 1];
		const rest = next && whole < 10 ? Math.floor((ms - whole * size) / next[0]) : 0;
		return rest && next ? `${whole}${unit} ${rest}${next[1]}` : `${whole}${unit}`;
	}
	return "0s";
}

/** An exact span, in the largest unit that divides it: 90000 is "90s", 86400000 is
 * "1d". The command line and the API can read this text. */
export function duration(ms: number): string {
	if (ms === 0) return "0s";
	for (const [size, unit] of UNITS) if (ms % size === 0) return `${ms / size}${unit}`;
	return `${ms}ms`;
}

export function bytes(n: number): string {
	if (n < 1024) return plural(n, "byte");
	if (n < 1048576) return `${trim(n / 1024)} KiB`;
	return `${trim(n / 1048576)} MiB`;
}

function trim(n: number): string {
	return n >= 100 || Number.isInteger(n) ? String(Math.round(n)) : n.toFixed(1);
}

/** A time relative to `now`: "12s ago", "in 3m 10s". */
export function relative(at: number, now: number): string {
	const ms = at - now;
	if (Math.abs(ms) < 1000) return "now";
	return ms < 0 ? `${span(-ms)} ago` : `in ${span(ms)}`;
}

/** A time in two lines: in the browser's time zone, and as the server sent it. */
export function absoluteTime(at: string): string {
	const ms = Date.parse(at);
	return Number.isNaN(ms) ? at : `${new Date(ms)}\n${at}`;
}

const JSON_TOKEN = /"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Indent JSON without changing its texts and numbers. A number may have more digits than
 * JavaScript can compute with. Stops after `most` characters, because deep JSON becomes
 * thousands of times as long. */
function indent(json: string, most: number): string {
	let depth = 0;
	let before = "";
	let to = "";
	const line = () => `\n${"  ".repeat(depth)}`;
	for (const [token] of json.matchAll(JSON_TOKEN)) {
		const isEnd = token === "}" || token === "]";
		const isFirst = before === "{" || before === "[";
		if (isEnd) depth--;
		if (isEnd !== isFirst || before === ",") to += line();
		to += token === ":" ? ": " : token;
		if (token === "{" || token === "[") depth++;
		before = token;
		if (to.length > most) break;
	}
	return to;
}

/** Returns a JSON object or array with indentation, and any other text unchanged. If it
 * has more than `most` characters, the rest may be left out. */
export function pretty(text: string, most: number): string {
	const start = text.trimStart()[0];
	if (start !== "{" && start !== "[") return text;
	try {
		JSON.parse(text);
		return indent(text, most);
	} catch {
		return text;
	}
}
