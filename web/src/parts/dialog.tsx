// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button";

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

	useLayoutEffect(() => {
		const dialog = ref.current;
		dialog?.showModal();
		return () => dialog?.close(); // gives the focus back, unless it is removed first
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
	off = false,
	failure,
	onClose,
}: {
	label: string;
	danger?: boolean;
	busy: boolean;
	off?: boolean;
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
				<Button type="submit" class={danger ? "danger" : "primary"} off={busy || off}>
					{busy ? "Working…" : label}
				</Button>
			</div>
		</>
	);
}
