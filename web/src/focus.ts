// If the element that has the focus is removed, the focus moves to what is next to it.
// The browser would move it to the whole document.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

const CONTROLS = "a, button, input";

/** the element that has the focus, and then its ancestors */
let path: EventTarget[] = [];

const has = (element: unknown) => document.activeElement === element;

addEventListener("focusin", (event) => {
	path = event.composedPath();
});

addEventListener("focusout", ({ target }) => {
	// Was the focus taken away by the user, and not by a removal?
	setTimeout(() => {
		if (path[0] === target && !has(target) && (target as Element).isConnected) path = [];
	});
});

/** Returns the first control in a part of the page that is still there. */
function controlIn(one: unknown): HTMLElement | null {
	if (!(one instanceof HTMLElement) || !one.isConnected || !one.closest("main > *")) return null;
	return one.matches(CONTROLS) ? one : one.querySelector<HTMLElement>(CONTROLS);
}

new MutationObserver((changes) => {
	if (!path.length || !has(document.body) || (path[0] as Element).isConnected) return;
	const removal = changes.find(({ removedNodes }) => [...removedNodes].some((one) => path.includes(one)));
	const near = [removal?.nextSibling, removal?.previousSibling, ...path];
	const next = near.map(controlIn).find((one) => one);
	(next ?? document.getElementById("main"))?.focus();
}).observe(document.body, { childList: true, subtree: true });
