// The page that is shown is in the fragment of the address (#/queue/mail), so
// that the server needs to know only one page, under any prefix.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { signal } from "@preact/signals";

export interface Route {
	/** decoded segments of the path: ["queue", "mail"] */
	path: string[];
	query: Record<string, string>;
}

function decode(segment: string): string {
	try {
		return decodeURIComponent(segment);
	} catch {
		return segment; // a stray % that somebody typed
	}
}

function read(): Route {
	const hash = location.hash.replace(/^#\/?/, "");
	const mark = hash.indexOf("?");
	const path = mark < 0 ? hash : hash.slice(0, mark);
	const query = mark < 0 ? "" : hash.slice(mark + 1);
	return {
		path: path.split("/").filter(Boolean).map(decode),
		query: Object.fromEntries(new URLSearchParams(query)),
	};
}

export const route = signal<Route>(read());

addEventListener("hashchange", () => {
	route.value = read();
});

type Query = Record<string, string | undefined>;

/** Returns the members of a query that are set. */
function setOnly(query: Query): Record<string, string> {
	const set = Object.entries(query).filter((one): one is [string, string] => Boolean(one[1]));
	return Object.fromEntries(set);
}

/** Encode the members of a query that are set. */
export function encodeQuery(query: Query): string {
	return new URLSearchParams(setOnly(query)).toString();
}

export function link(path: string[], query: Query = {}): string {
	const text = encodeQuery(query);
	return `#/${path.map(encodeURIComponent).join("/")}${text && "?"}${text}`;
}

export function go(path: string[], query: Query = {}): void {
	location.hash = link(path, query);
}

/** Change members of the query of this page, without an entry in the browser's history. */
export function amend(query: Query): void {
	const { path, query: old } = route.value;
	route.value = { path, query: setOnly({ ...old, ...query }) };
	try {
		history.replaceState(history.state, "", link(path, route.value.query));
	} catch {
		// Safari refuses such changes if they are very frequent.
	}
}
