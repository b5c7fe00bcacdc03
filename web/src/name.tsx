// Names that users have chosen. A name may have characters that nobody can see, or that
// turn the direction of the text around them.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

/** Matches controls, and characters without width. Those that join letters and emojis
 * are left out, because names need them. */
const HIDDEN = /(?![\t\n])[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

function escape(char: string): string {
	return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Write the hidden characters of a text as JSON does: "\u202e". */
export function visible(text: string): string {
	return text.replace(HIDDEN, escape);
}

/** Returns a name as it is shown. If none of its characters can be seen, it is put into
 * quotes. */
function shown(name: string): string {
	const isBlank = /^[\s\p{Default_Ignorable_Code_Point}]*$/u.test(name);
	return isBlank ? `"${name.replace(/[^ ]/g, escape)}"` : visible(name);
}

/** Returns a name for a sentence. Its letters may run from right to left, so it is
 * isolated from the words and numbers around it. */
export function named(name: string): string {
	const text = shown(name);
	return /^[ -~]*$/.test(text) ? text : `\u2068${text}\u2069`;
}

/** A name in the page; `bdi` isolates it. */
export function Name({ of, ...rest }: { of: string; class?: string }) {
	return <bdi {...rest}>{shown(of)}</bdi>;
}
