// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import type { ComponentChildren } from "preact";

/** A button that does nothing while it is off. A disabled button would lose the focus.
 * It also ignores the second click of a double click: the first one may be over by then,
 * and the button may have got another meaning. */
export function Button({
	off,
	label,
	onClick,
	children,
	...rest
}: {
	off: boolean;
	/** the name for screen readers, if it is not the text */
	label?: string;
	type?: "submit";
	class?: string;
	onClick?: () => void;
	children: ComponentChildren;
}) {
	return (
		<button
			type="button"
			{...rest}
			aria-label={label}
			aria-disabled={off}
			onClick={(event) => (off || event.detail > 1 ? event.preventDefault() : onClick?.())}
		>
			{children}
		</button>
	);
}
