// Short messages about what an action did.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

const SHOWN_MS = 6000;

interface Toast {
	id: number;
	text: string;
	bad: boolean;
}

const toasts = signal<Toast[]>([]);
let last = 0;

function remove(id: number): void {
	toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function say(text: string, bad = false): void {
	const id = ++last;
	toasts.value = [{ id, text, bad }, ...toasts.value]; // if not all fit, the newest do
	// An error stays until somebody has read it.
	if (!bad) setTimeout(() => remove(id), SHOWN_MS);
}

/** Run an action, and say what it did or why it failed. Returns whether it was
 * done. If `done` is absent, the action itself says what it did. A dialog passes `fail` and
 * shows the failure itself: while a dialog is open, the rest of the page, with these
 * messages, cannot be used and is not read out. */
export async function act(
	work: () => Promise<unknown>,
	done?: string,
	fail = (text: string) => say(text, true),
): Promise<boolean> {
	try {
		await work();
		if (done) say(done);
		return true;
	} catch (error) {
		fail(explainFailure(error));
		return false;
	}
}

/** Returns the text of an error. If the failed call may have made its change, the text
 * says so. */
export function explainFailure(error: unknown): string {
	const { message, outcome } = error as { message: string; outcome?: string };
	return outcome === "unknown" ? `${message} The change may have been made.` : message;
}

export function Toasts() {
	const box = useRef<HTMLDivElement>(null);
	const shown = toasts.value;

	// A dialog is in the top layer of the browser. The messages are put there anew, so
	// that they lie above it.
	useEffect(() => {
		box.current?.hidePopover();
		if (shown.length) box.current?.showPopover();
	}, [shown]);
	return (
		<div class="toasts" role="status" aria-live="polite" popover="manual" ref={box}>
			{shown.map((toast) => (
				<div key={toast.id} class={toast.bad ? "toast bad" : "toast"}>
					<span>{toast.text}</span>
					<button type="button" class="plain" aria-label="Close message" onClick={() => remove(toast.id)}>
						×
					</button>
				</div>
			))}
		</div>
	);
}
