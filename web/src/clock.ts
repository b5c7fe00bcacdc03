// The time now, by the database's clock, for relative times. A browser's clock may
// be wrong by minutes, so the difference is learnt from the live numbers.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { signal } from "@preact/signals";

/** If the clocks of the browser and the database differ by less than this, the
 * difference is ignored, because the database's time may be that old: the first numbers
 * of a stream are up to a second old, and may have taken a second to arrive. */
const WORTH_CORRECTING_MS = 2000;

let ahead = 0;

/** Learn the database's time from numbers that have just arrived. */
export function learnTime(at: string): void {
	const off = Date.parse(at) - Date.now();
	ahead = Math.abs(off) > WORTH_CORRECTING_MS ? off : 0;
	read();
}

export const now = signal(Date.now());

function read(): void {
	now.value = Date.now() + ahead;
}

setInterval(() => {
	if (!document.hidden) read();
}, 1000);
