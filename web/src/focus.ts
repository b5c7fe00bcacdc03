// If the element that has the focus is removed, the focus moves to what is next to it.
// The browser would move it to the whole document.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

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

new MutationObserver(() => {
	if (!path.length || !has(document.body) || (path[0] as Element).isConnected) return;
	const near = path.find((one): one is Element => one instanceof Element && one.isConnected);
	const next = near?.closest("main > *") && near.querySelector<HTMLElement>("a, button, input");
	(next || document.getElementById("main"))?.focus();
}).observe(document.body, { childList: true, subtree: true });
