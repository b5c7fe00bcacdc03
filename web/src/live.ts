// The live numbers: one event stream for the whole page, closed while nobody
// looks at it.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { signal } from "@preact/signals";
import { get, needsToken } from "./api";
import { learnTime } from "./clock";
import type { Stats } from "./types";

/** A chart shows at most ten minutes, with one point a second. */
const MOST_S = 600;

/** If no numbers arrive for this long, the page says that its numbers are old. The
 * server sends them once a second, unless it cannot read the database. */
const LATE_MS = 5000;

/** If no numbers arrive for this long, we connect again. A stream that the network has
 * lost may never end. */
const SILENT_MS = 15000;

/** The first and the longest delay before we connect again. */
const FIRST_RETRY_MS = 2000;
const LONGEST_RETRY_MS = 30000;

export interface History {
	/** seconds since 1970 */
	at: number[];
	done: (number | null)[];
	failed: (number | null)[];
	ready: (number | null)[];
	running: (number | null)[];
}

export const stats = signal<Stats[] | null>(null);
/** The number of events with live numbers so far. Pages that show these numbers
 * subscribe to this signal. */
export const tick = signal(0);
/** The number of event streams that have brought numbers so far. After an interruption
 * the server may be another one, so what was read only once is read again. */
export const streams = signal(0);
export const connection = signal<"connecting" | "live" | "late" | "lost">("connecting");

interface Numbers {
	queues: Stats[];
	/** the database's time */
	at: string;
}

const histories = new Map<string, History>();
export const total: History = empty();

function empty(): History {
	return { at: [], done: [], failed: [], ready: [], running: [] };
}

export function historyOf(queue: string): History {
	let history = histories.get(queue);
	if (!history) histories.set(queue, (history = empty()));
	return history;
}

type Point = Pick<Stats, "done_per_s" | "failed_per_s" | "ready" | "running">;

function add(history: History, at: number, point: Point | null): void {
	history.at.push(at);
	history.done.push(point && point.done_per_s);
	history.failed.push(point && point.failed_per_s);
	history.ready.push(point && point.ready);
	history.running.push(point && point.running);
	while ((history.at[0] ?? at) < at - MOST_S || history.at.length > MOST_S)
		for (const list of Object.values(history)) list.shift();
}

function sum(list: Stats[]): Point {
	const all = { done_per_s: 0, failed_per_s: 0, ready: 0, running: 0 };
	for (const one of list) {
		all.done_per_s += one.done_per_s;
		all.failed_per_s += one.failed_per_s;
		all.ready += one.ready;
		all.running += one.running;
	}
	return all;
}

function take(list: Stats[], at: number): void {
	const names = new Set(list.map((one) => one.queue));
	for (const name of histories.keys()) if (!names.has(name)) histories.delete(name);
	for (const one of list) add(historyOf(one.queue), at, one);
	add(total, at, sum(list));
	stats.value = list;
	tick.value++;
}

/** Charts show a gap for the time in which nothing was received. */
function breakLines(): void {
	for (const history of [...histories.values(), total]) {
		const last = history.at.at(-1);
		if (last !== undefined) add(history, last, null);
	}
}

let source: EventSource | null = null;
let retryMs = FIRST_RETRY_MS;
let timer: ReturnType<typeof setTimeout> | undefined;
let late: ReturnType<typeof setTimeout> | undefined;

function close(): void {
	clearTimeout(timer);
	clearTimeout(late);
	source?.close();
	source = null;
}

function connectLater(): void {
	close();
	breakLines();
	connection.value = "lost";
	timer = setTimeout(connect, retryMs);
	retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
	// An event stream does not tell why it failed. So make a call, which
	// opens the login form if the token is not valid.
	get("v1/stats").catch(() => undefined);
}

/** If no numbers arrive from now on, say so, and then connect again. */
function watchSilence(): void {
	clearTimeout(late);
	late = setTimeout(() => {
		connection.value = "late";
		late = setTimeout(connectLater, SILENT_MS - LATE_MS);
	}, LATE_MS);
}

function connect(): void {
	close();
	if (document.hidden || needsToken.value) return;
	if (connection.value !== "lost") connection.value = "connecting";
	source = new EventSource("v1/events");
	source.addEventListener("stats", () => streams.value++, { once: true });
	source.onerror = connectLater;
	watchSilence();
	source.addEventListener("stats", (event) => {
		retryMs = FIRST_RETRY_MS;
		connection.value = "live";
		watchSilence();
		const { queues, at } = JSON.parse((event as MessageEvent<string>).data) as Numbers;
		learnTime(at);
		take(queues, Date.parse(at) / 1000);
	});
}

export function reconnect(): void {
	retryMs = FIRST_RETRY_MS;
	connect();
}

document.addEventListener("visibilitychange", () => {
	if (document.hidden) {
		close();
		breakLines();
	} else {
		reconnect();
	}
});
