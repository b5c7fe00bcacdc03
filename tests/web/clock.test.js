// Times by the database's clock, on a computer whose own clock is wrong.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { closeQuietly, emptyPage } from "./browser.js";
import { until } from "./readpast.js";
import { suite } from "./suite.js";

const its = suite();
const HOUR_MS = 3600000;

/** Open a page that keeps the texts that are drawn on a canvas. */
async function pageWithTexts() {
	const page = await emptyPage(its.browser, { timezoneId: "UTC" });
	await page.addInitScript(() => {
		window.texts = [];
		const { fillText } = CanvasRenderingContext2D.prototype;
		CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
			window.texts.push(text);
			return fillText.call(this, text, ...rest);
		};
	});
	return page;
}

/** Wait until a chart has drawn times, and return them. */
function timesOfChart(page) {
	return until(async () => {
		const texts = await page.evaluate(() => window.texts.filter((text) => text.includes(":")));
		return texts.length && texts;
	}, "a chart with times");
}

/** Wait until a chart has drawn times, and check that all are of the last hour. */
async function chartEndsNow(page) {
	const times = await timesOfChart(page);
	const hour = new Date().getUTCHours();
	for (const time of times) assert.ok((hour - Number(time.slice(0, 2)) + 24) % 24 <= 1, times.join());
}

test("times are right from the first live numbers on, although the browser's clock is wrong", async () => {
	const page = await pageWithTexts();
	await page.addInitScript((off) => {
		const real = Date.now;
		Date.now = () => real() - off;
		window.setInterval = () => 0; // the page must not need its next second
	}, 5 * HOUR_MS);
	const id = its.db.json(["list", "mail", "--state", "dead"])[0].id;
	await page.goto(`${its.base}#/job/${id}`);
	await page.getByText("Live", { exact: true }).waitFor();
	const enqueued = page.locator("dl.facts time").first();
	await until(async () => / ago$/.test(await enqueued.innerText()), "the time by the database's clock");
	assert.match(await enqueued.innerText(), /^\d+(s|m \d+s|m) ago$/);

	await page.goto(`${its.base}#/queue/mail`);
	await chartEndsNow(page);
	await closeQuietly(page);
});

test("a chart without numbers ends now", async () => {
	const page = await pageWithTexts();
	await page.route(/v1\/events/, () => undefined);
	await page.goto(`${its.base}#/queue/mail`);
	await chartEndsNow(page);
	await page.context().close();
});

test("charts and lines forget old numbers, and show each number at its time", async () => {
	const page = await pageWithTexts();
	const { queues } = await (await fetch(`${its.base}v1/stats`)).json();
	const end = Date.UTC(2026, 0, 1, 12, 0, 10);
	const events = [3 * HOUR_MS, 100000, 40000, 0].map((ago) => {
		const data = { queues, at: new Date(end - ago).toISOString() };
		return `event: stats\ndata: ${JSON.stringify(data)}\n\n`;
	});
	const answer = { contentType: "text/event-stream", body: events.join("") };
	await page.route(/v1\/(events|stats)/, () => undefined);
	await page.route(/v1\/events/, (route) => route.fulfill(answer), { times: 1 });
	await page.goto(its.base);
	const line = page.locator("svg.spark path.done").first();
	const points = /^M19\.5 .*L79\.5 .*L119\.5 [\d.]+$/;
	await until(async () => points.test(await line.getAttribute("d")), "a line of three points");
	for (const time of await timesOfChart(page)) assert.match(time, /^(11:5|12:00)/);
	await page.context().close();
});
