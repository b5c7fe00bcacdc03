// Calls of the HTTP API. All addresses are relative to the page.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { signal } from "@preact/signals";
import { visible } from "./name";

/** A call that takes longer than this fails, so that the page shows an error. */
const PATIENCE_MS = 10000;

/** The same for a change of many jobs: 8 million jobs take about 25 s on SQLite, and may
 * take much longer on a slow disk. */
export const BULK_PATIENCE_MS = 600000;

/** True while the server refuses calls because no token was given. */
export const needsToken = signal(false);

export class Problem extends Error {
	constructor(
		readonly status: number,
		message: string,
		/** "unknown": the change may have been made */
		readonly outcome?: string,
	) {
		super(message);
	}
}

async function readProblem(answer: Response): Promise<Problem> {
	let body: { detail?: string; title?: string; outcome?: string } = {};
	try {
		body = await answer.json();
	} catch {
		// The body is not JSON: it may be the error page of a proxy.
	}
	const text = body.detail ?? body.title ?? `The server answered ${answer.status}.`;
	return new Problem(answer.status, visible(text), body.outcome);
}

function explain(error: unknown, patienceMs = PATIENCE_MS): Problem {
	if (error instanceof Problem) return error;
	if (error instanceof DOMException && error.name === "TimeoutError")
		return new Problem(0, `The server did not answer within ${patienceMs / 1000} s.`, "unknown");
	if (error instanceof SyntaxError)
		return new Problem(0, "The server's answer is not JSON. Is there a proxy in between?", "unknown");
	return new Problem(0, "The server cannot be reached.", "unknown");
}

async function send(path: string, init: RequestInit): Promise<Response> {
	const answer = await fetch(path, init);
	if (answer.status === 401) needsToken.value = true;
	if (!answer.ok) throw await readProblem(answer);
	return answer;
}

/** Combine the page's own signal with the time limit. */
function limited(cancel?: AbortSignal): AbortSignal {
	const timeout = AbortSignal.timeout(PATIENCE_MS);
	if (!cancel) return timeout;
	const both = new AbortController();
	for (const signal of [cancel, timeout])
		signal.addEventListener("abort", () => both.abort(signal.reason), { once: true });
	return both.signal;
}

const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };

/** A number with more digits than JavaScript can compute with becomes an object of which
 * JSON.stringify() makes these digits again. Browsers without JSON.rawJSON() round it. */
function keepDigits(_: string, value: unknown, context?: { source?: string }): unknown {
	const isLarge = typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
	return isLarge && rawJSON && context?.source ? rawJSON(context.source) : value;
}

/** Parse an answer. It has large numbers only where users have stored them, which is in
 * headers. Few answers do, and parsing without keepDigits() is faster. */
function parse(json: string): unknown {
	return /\d{16}/.test(json) ? JSON.parse(json, keepDigits) : JSON.parse(json);
}

export async function get<T>(path: string, cancel?: AbortSignal): Promise<T> {
	try {
		const answer = await send(path, { signal: limited(cancel) });
		return parse(await answer.text()) as T;
	} catch (error) {
		if (cancel?.aborted) throw error;
		throw explain(error);
	}
}

export async function change<T>(
	method: string,
	path: string,
	body: unknown = {},
	headers = {},
	patienceMs = PATIENCE_MS,
): Promise<T> {
	try {
		const answer = await send(path, {
			method,
			headers: { "Content-Type": "application/json", ...headers },
			body: JSON.stringify(body),
			signal: AbortSignal.timeout(patienceMs),
		});
		return (answer.status === 204 ? {} : await answer.json()) as T;
	} catch (error) {
		throw explain(error, patienceMs);
	}
}

export const post = <T>(path: string, body?: unknown, patienceMs?: number) =>
	change<T>("POST", path, body, {}, patienceMs);

/** Encode a name, which may have any characters, as one segment of a path. */
export const segment = encodeURIComponent;
