// The time now, by the server's clock, for relative times. A browser's clock may
// be wrong by minutes, so the difference is taken from the answers of the server.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { signal } from "@preact/signals";

/** A smaller difference is noise: the header has whole seconds only. */
const WORTH_CORRECTING_MS = 2000;

let ahead = 0;

/** Learn the server's time from the Date header of an answer. */
export function learnTime(date: string | null): void {
	const at = date ? Date.parse(date) : NaN;
	const off = at - Date.now();
	if (!Number.isNaN(off)) ahead = Math.abs(off) > WORTH_CORRECTING_MS ? off : 0;
}

export const now = signal(Date.now());

setInterval(() => {
	if (!document.hidden) now.value = Date.now() + ahead;
}, 1000);
