// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { act, say } from "../toast";
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

/** The action of a dialog, for the component that is there while the dialog is open. A
 * dialog can be closed before its action ends; a failure is then shown as a message. */
export function useAction(onClose: () => void) {
	const [busy, setBusy] = useState(false);
	const [failure, setFailure] = useState("");
	const isOpen = useRef(true);

	useLayoutEffect(
		() => () => {
			isOpen.current = false;
		},
		[],
	);

	function fail(text: string): void {
		if (isOpen.current) setFailure(text);
		else say(text, true);
	}

	/** Run the action, and close the dialog if it was done. See act(). */
	async function run(work: () => Promise<unknown>, done?: string): Promise<boolean> {
		setBusy(true);
		setFailure("");
		const isDone = await act(work, done, fail);
		setBusy(false);
		if (isDone && isOpen.current) onClose();
		return isDone;
	}

	return { busy, failure, setFailure, run };
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
