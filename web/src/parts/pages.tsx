// A long list, some rows at a time, because more rows make a browser slow. The first row
// is in the page's address, so that the browser's Back leads to the same rows.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import type { ComponentChildren } from "preact";
import { count } from "../format";
import { amend, route } from "../route";

const MOST_ROWS = 200;

/** Show the rows of a list, and buttons that lead to its other rows. */
export function Pages<T>({ list, what, children }: { list: T[]; what: string; children: (rows: T[]) => ComponentChildren }) {
	const from = Math.trunc(Number(route.value.query.from ?? 0));
	const first = from > 0 && from < list.length ? from : 0; // the list may have become shorter
	const end = Math.min(first + MOST_ROWS, list.length);

	function turn(to: number): void {
		amend({ from: to > 0 ? String(to) : undefined });
		scrollTo(0, 0);
	}

	return (
		<>
			{children(list.slice(first, end))}
			{list.length > MOST_ROWS && (
				<p class="more">
					{what} {count(first + 1)} to {count(end)} of {count(list.length)}{" "}
					{first > 0 && (
						<button type="button" onClick={() => turn(first - MOST_ROWS)}>
							Previous
						</button>
					)}{" "}
					{end < list.length && (
						<button type="button" onClick={() => turn(end)}>
							More
						</button>
					)}
				</p>
			)}
		</>
	);
}
