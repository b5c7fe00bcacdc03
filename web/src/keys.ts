// Keyboard shortcuts. Everything also works with Tab and Enter alone.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { signal } from "@preact/signals";
import { PLACES } from "./places";
import { go } from "./route";

/** The keys `g` and then, for example, `q` open a page. The second key must follow
 * within this time. */
const PREFIX_MS = 1500;

export const helpIsOpen = signal(false);

function isTyping(target: EventTarget | null): boolean {
	return target instanceof HTMLElement && target.matches("input, textarea, select");
}

/** Returns what Enter opens in a row: the row's own link, or else its first control. */
function opener(row: Element): HTMLElement | null {
	return row.querySelector<HTMLElement>("a.open") ?? row.querySelector<HTMLElement>("a, button");
}

/** Move the focus to the link of the next row (`by` is 1) or the previous row (-1). A row
 * without controls is left out. */
function moveRow(by: number): void {
	const links = [...document.querySelectorAll("main tbody tr")].map(opener).filter((one) => one !== null);
	const row = document.activeElement?.closest("tr");
	const at = links.findIndex((link) => link.closest("tr") === row);
	const next = at < 0 ? links[by > 0 ? 0 : links.length - 1] : links[at + by];
	next?.focus();
}

function press(key: string): boolean {
	if (key === "/") document.getElementById("find-job")?.focus();
	else if (key === "?") helpIsOpen.value = true;
	else if (key === "j") moveRow(1);
	else if (key === "k") moveRow(-1);
	else return false;
	return true;
}

let prefixAt = -PREFIX_MS;

addEventListener("keydown", (event) => {
	if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
	if (document.querySelector("dialog[open]")) return;
	const place = event.timeStamp - prefixAt < PREFIX_MS && PLACES.find((one) => one.key === event.key);
	prefixAt = event.key === "g" ? event.timeStamp : -PREFIX_MS;
	if (place) go([place.path]);
	else if (!press(event.key)) return;
	event.preventDefault();
});
