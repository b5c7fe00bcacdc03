// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { count, span } from "../format";
import { now } from "../clock";
import type { Queue } from "../types";

/** Returns the end of a hold, or null if nothing is held now. */
export function holdEnd(until: string | null): number | null {
	const end = until ? Date.parse(until) : 0;
	return end > now.value ? end : null;
}

/** Shows the limits of a queue, and until when it is held. If it has no limits and is
 * not held, shows nothing. */
export function Limits({ of }: { of: Queue }) {
	const parts: string[] = [];
	const end = holdEnd(of.held_until);
	if (end !== null) parts.push(`for another ${span(end - now.value)}`);
	if (of.limit) parts.push(`at most ${count(of.limit)} at once`);
	if (of.group_limit) parts.push(`${count(of.group_limit)} per group`);
	if (of.rate) parts.push(`rate ${of.rate}`);
	if (!parts.length) return null;
	return (
		<p class="note">
			{end !== null && <span class="tag warn">held</span>} {parts.join(" · ")}
		</p>
	);
}
