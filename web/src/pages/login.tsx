// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Field, readChanges } from "../parts/field";
import { logIn } from "../session";

export function LoginPage() {
	const form = useRef<HTMLFormElement>(null);
	const [failure, setFailure] = useState("");

	// A browser obeys autofocus only before anything has had the focus.
	useLayoutEffect(() => form.current?.querySelector("input")?.focus(), []);

	async function submit(event: SubmitEvent): Promise<void> {
		event.preventDefault();
		const { token = "" } = readChanges(event.currentTarget as HTMLFormElement);
		try {
			await logIn(token);
		} catch (error) {
			setFailure((error as Error).message);
		}
	}

	return (
		<main class="login">
			<form ref={form} onSubmit={submit}>
				<h1>
					<img src="./icon.svg" alt="" width="28" height="28" /> readpast
				</h1>
				<p>This server wants a token.</p>
				<Field label="Token" name="token" type="password" placeholder="rp_…" />
				{failure && (
					<p class="bad" role="alert">
						{failure}
					</p>
				)}
				<button type="submit" class="primary">
					Log in
				</button>
				<p class="hint">
					On the server, <code>readpast token add NAME --may 'read:*'</code> prints a new token that may look
					at everything and change nothing.
				</p>
			</form>
		</main>
	);
}
