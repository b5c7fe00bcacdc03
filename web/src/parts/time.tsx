// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { now } from "../clock";
import { absoluteTime, relative, span } from "../format";

/** A time relative to now, such as "12s ago", which changes as time passes. Its title
 * has the absolute time. */
export function Time({ at }: { at: string | null | undefined }) {
	if (!at) return <span class="faint">–</span>;
	return (
		<time dateTime={at} title={absoluteTime(at)}>
			{relative(Date.parse(at), now.value)}
		</time>
	);
}

/** For how long something has lasted: "for 12s". */
export function Since({ at }: { at: string | null | undefined }) {
	if (!at) return null;
	return (
		<time dateTime={at} title={absoluteTime(at)}>
			for {span(Math.max(0, Math.round((now.value - Date.parse(at)) / 1000) * 1000))}
		</time>
	);
}
