// Back and Forward lead to the place in a page where the user has left it. The browser
// would scroll there before the page has read its rows, which is too early.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { route } from "./route";

/** how far each entry of the browser's history is scrolled, by the key in its state */
const places = new Map<number, number>();
/** the key of the entry whose page is shown */
let shown: number;
/** where to scroll to, as soon as the page is long enough */
let target: number | undefined;
let path = route.value.path.join("/");

function keyOfEntry(): number | undefined {
	return history.state?.key;
}

/** Returns false between `popstate` and `hashchange`, while the browser has another
 * entry, but the page is still the old one. */
function isEntryShown(): boolean {
	return keyOfEntry() === shown;
}

function addEntry(): void {
	shown = Math.random();
	history.replaceState({ key: shown }, "");
	places.set(shown, scrollY);
}

function scrollToTarget(): void {
	if (target === undefined || !isEntryShown()) return;
	scrollTo(0, target);
	if (scrollY >= target - 1) target = undefined;
}

addEntry();

addEventListener("scroll", () => {
	if (target === undefined && isEntryShown()) places.set(shown, scrollY);
});

addEventListener("popstate", () => {
	const key = keyOfEntry();
	if (key === undefined) places.set(shown, scrollY);
	target = key && places.get(key);
});

addEventListener("hashchange", () => {
	const old = path;
	path = route.value.path.join("/");
	if (target === undefined) {
		if (path !== old) scrollTo(0, 0);
		addEntry();
	} else {
		shown = keyOfEntry() ?? shown;
		requestAnimationFrame(scrollToTarget);
	}
});

new ResizeObserver(scrollToTarget).observe(document.body);
for (const kind of ["wheel", "touchmove", "pointerdown", "keydown"])
	addEventListener(kind, () => (target = undefined), { passive: true });
