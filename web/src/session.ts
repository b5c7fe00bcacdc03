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
	/** true: the server refuses all changes */
	read_only?: boolean;
	hide_payloads?: boolean;
	/** the name of the token; absent if the server wants no token */
	token?: string | null;
	/** the queues that this token may change; a * at the end stands for any text */
	admin?: string[];
}

export const session = signal<Session>({});

/** Returns whether the server accepts changes of this queue, and of its jobs and
 * schedules. The page offers no others. Until the session is known, it offers all. */
export function mayChange(queue: string): boolean {
	const { admin = ["*"] } = session.value;
	return admin.some((name) => (name.endsWith("*") ? queue.startsWith(name.slice(0, -1)) : queue === name));
}

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
	session.value = await answer.json();
	needsToken.value = false;
	reconnect();
}

export async function logOut(): Promise<void> {
	await fetch("v1/session", { method: "DELETE" });
	session.value = {};
	needsToken.value = true;
}
