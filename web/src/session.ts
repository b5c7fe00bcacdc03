// What the server says about itself (its version, whether it is read-only) and about
// the browser's session.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { signal } from "@preact/signals";
import { get, needsToken } from "./api";
import { reconnect } from "./live";

export interface Session {
	version?: string;
	/** the database's name, without a password */
	database?: string;
	/** true: the server refuses all changes, so the page offers none */
	read_only?: boolean;
	hide_payloads?: boolean;
	/** the name of the token; absent if the server wants no token */
	token?: string | null;
}

export const session = signal<Session>({});

export async function loadSession(): Promise<void> {
	session.value = await get<Session>("v1/session");
}

/** Exchange a token for a cookie that no script can read. */
export async function logIn(token: string): Promise<void> {
	const answer = await fetch("v1/session", {
		method: "POST",
		headers: { Authorization: `Bearer ${token}` },
	});
	if (!answer.ok) throw new Error("The server does not know this token.");
	needsToken.value = false;
	await loadSession();
	reconnect();
}

export async function logOut(): Promise<void> {
	await fetch("v1/session", { method: "DELETE" });
	session.value = {};
	needsToken.value = true;
}
