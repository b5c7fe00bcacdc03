// Bytes that somebody else wrote: payloads, results, headers. They are shown as
// text only; the browser never reads them as HTML.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useState } from "preact/hooks";
import { bytes, pretty } from "../format";

/** Longer text makes a browser slow. */
const SHOWN_CHARS = 16384;

export function Bytes({
	title,
	text,
	base64,
	size,
	isCut,
	href,
}: {
	title: string;
	text: string | null | undefined;
	base64: string | undefined;
	/** bytes of the whole, if the server has told it */
	size?: number;
	/** true: the server sent only the beginning */
	isCut?: boolean;
	href?: string;
}) {
	const [asIs, setAsIs] = useState(false);
	const whole = text ?? base64 ?? "";
	const indented = text ? pretty(text, SHOWN_CHARS) : whole;
	const shown = asIs ? whole : indented;
	const length = size ?? (text !== null && text !== undefined ? new TextEncoder().encode(text).length : Math.floor((whole.replace(/=+$/, "").length * 3) / 4));
	const isLong = shown.length > SHOWN_CHARS;
	return (
		<section class="bytes">
			<div class="bar">
				<h2>{title}</h2>
				<span class="faint">{bytes(length)}</span>
				{base64 !== undefined && <span class="tag">not text: shown as base64</span>}
				{indented !== whole && (
					<button type="button" class="plain" aria-pressed={asIs} onClick={() => setAsIs(!asIs)}>
						as it is
					</button>
				)}
				{href && (
					<a class="button" href={href} download>
						Download
					</a>
				)}
			</div>
			<pre tabIndex={0}>{isLong ? shown.slice(0, SHOWN_CHARS) : shown}</pre>
			{(isLong || isCut) && <p class="note">Only the beginning is shown.</p>}
		</section>
	);
}
