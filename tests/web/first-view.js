// first-view.js URL - print how many milliseconds the dashboard takes until it has
// painted the first row of its table of queues. The time starts when the browser is told
// the address. This is the median of several new contexts, so nothing is in the browser's
// cache.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { closeQuietly, emptyPage, launch } from "./browser.js";

const ROUNDS = 5;

/** Runs in the page before the dashboard's script. It prints the time to the console,
 * because a question from outside would be answered by the thread that paints. */
function printFirstView() {
	new MutationObserver((_, observer) => {
		if (!document.querySelector("main tbody tr")) return;
		observer.disconnect();
		// The task that follows the next frame
		requestAnimationFrame(() => setTimeout(() => console.info(performance.now())));
	}).observe(document, { childList: true, subtree: true });
}

async function firstView(browser, url) {
	const page = await emptyPage(browser);
	await page.addInitScript(printFirstView);
	const printed = page.waitForEvent("console");
	await page.goto(url, { waitUntil: "commit" });
	const took = Number((await printed).text());
	await closeQuietly(page);
	return took;
}

const browser = await launch();
const times = [];
// This view loads the files of the browser itself, and is not counted.
await firstView(browser, process.argv[2]);
for (let i = 0; i < ROUNDS; i++) times.push(await firstView(browser, process.argv[2]));
await browser.close();
times.sort((a, b) => a - b);
console.log(times[Math.floor(ROUNDS / 2)].toFixed(0));
