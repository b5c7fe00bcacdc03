// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A modal dialog of the browser, which keeps the focus inside and closes on
 * Escape. */
export function Dialog({
	title,
	onClose,
	children,
}: {
	title: string;
	onClose: () => void;
	children: ComponentChildren;
}) {
	const ref = useRef<HTMLDialogElement>(null);

	useEffect(() => {
		const dialog = ref.current;
		dialog?.showModal();
		return () => dialog?.close(); // an open dialog gives the focus back
	}, []);
	return (
		<dialog ref={ref} aria-labelledby="dialog-title" onClose={onClose}>
			<h2 id="dialog-title">{title}</h2>
			{children}
		</dialog>
	);
}

/** The buttons of a dialog, and why its action failed. */
export function Buttons({
	label,
	danger,
	busy,
	disabled,
	failure,
	onClose,
}: {
	label: string;
	danger?: boolean;
	busy?: boolean;
	disabled?: boolean;
	failure?: string;
	onClose: () => void;
}) {
	return (
		<>
			{failure && (
				<p class="bad" role="alert">
					{failure}
				</p>
			)}
			<div class="buttons">
				<button type="button" onClick={onClose}>
					Close
				</button>
				<button type="submit" class={danger ? "danger" : "primary"} disabled={busy || disabled}>
					{busy ? "Working…" : label}
				</button>
			</div>
		</>
	);
}
