// The server's data about itself (its version, whether it is read-only) and about the
// browser's session.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { signal } from "@preact/signals";
import { change, get, needsToken } from "./api";
import { explainFailure, say } from "./toast";

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

/** Returns what to add to a noun in a sentence about an empty list: with a token, the
 * list has only what this token may read. */
export function readable(): string {
	return session.value.token ? " that this token may read" : "";
}

export async function loadSession(): Promise<void> {
	session.value = await get<Session>("v1/session");
}

/** Exchange a token for a cookie that no script can read, and start anew: another token
 * may have read what is in the page. */
export async function logIn(token: string): Promise<void> {
	if (!/^rp_\w+$/.test(token)) throw new Error("This is not a token: a token begins with rp_.");
	await change("POST", "v1/session", {}, { Authorization: `Bearer ${token}` });
	location.reload();
}

/** Somebody may have logged in in another tab. Then this tab starts anew. */
function lookForLogin(): void {
	if (needsToken.value && !document.hidden) loadSession().then(() => location.reload(), () => undefined);
}

addEventListener("focus", lookForLogin);
addEventListener("visibilitychange", lookForLogin);

export async function logOut(): Promise<void> {
	try {
		await change("DELETE", "v1/session");
		location.reload(); // forget all that was read with this token
	} catch (error) {
		say(explainFailure(error), true);
	}
}
