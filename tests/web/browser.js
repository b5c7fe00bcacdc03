// Debian's Chromium, driven by playwright-core.
//
// The environment variable CHROMIUM names the browser. The default is
// /usr/bin/chromium.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { until } from "./readpast.js";

const WAIT_MS = 30000;

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

export function launch() {
	return chromium.launch({
		executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
		headless: true,
		args: [
			"--no-sandbox",
			"--disable-gpu",
			"--disable-quic",
			"--no-first-run",
			"--disable-background-networking",
			"--disable-component-update",
			"--disable-sync",
		],
	});
}

/** Make an empty page in a context of its own. `page.complaints` collects errors of
 * scripts, and the requests that the content security policy has blocked. */
export async function emptyPage(browser, options = {}) {
	const context = await browser.newContext({ viewport: DESKTOP, ...options });
	const page = await context.newPage();
	page.setDefaultTimeout(WAIT_MS);
	page.complaints = [];
	page.on("pageerror", (error) => page.complaints.push(error.message));
	page.on("console", (message) => {
		if (message.type() === "error") page.complaints.push(message.text());
	});
	page.on("dialog", (dialog) => {
		page.complaints.push(`dialog: ${dialog.message()}`);
		return dialog.dismiss();
	});
	return page;
}

/** Open a page of the dashboard. */
export async function open(browser, base, hash = "", options = {}) {
	const page = await emptyPage(browser, options);
	page.base = base;
	await page.goto(base + hash);
	return page;
}

/** Go to another page of the dashboard, as a link does. */
export function visit(page, hash) {
	return page.evaluate((to) => {
		location.hash = to;
	}, hash);
}

/** Wait until the page waits for no answer. */
export function allRead(page) {
	return until(async () => (await page.locator(".loading").count()) === 0, "all answers");
}

export async function closeQuietly(page) {
	const { complaints } = page;
	await page.context().close();
	assert.deepEqual(complaints, []);
}

export function row(page, text) {
	return page.locator("main tbody tr", { hasText: text });
}

/** Wait until the page shows the message of an action. */
export function said(page, text) {
	return page.locator(".toast", { hasText: text }).waitFor();
}
