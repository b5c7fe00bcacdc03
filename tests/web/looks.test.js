// The page on a phone and in other windows, in dark mode, below a prefix, and used by keyboard alone.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { allRead, closeQuietly, DESKTOP, emptyPage, open, PHONE, row, said, visit } from "./browser.js";
import { until } from "./readpast.js";
import { suite } from "./suite.js";

const its = suite(undefined, "--prefix", "/tools/queue");

const PAGES = [
	"#/queues",
	"#/queue/mail?state=dead",
	"#/queue/mail?view=settings",
	"#/job/3",
	"#/dead",
	"#/workers",
	"#/schedules",
	"#/doctor",
];

/** Press Tab until something with this name has the focus. */
async function tabTo(page, name, most = 80) {
	for (let i = 0; i < most; i++) {
		await page.keyboard.press("Tab");
		const found = await page.evaluate(() => {
			const at = document.activeElement;
			return at?.getAttribute("aria-label") ?? at?.textContent?.trim() ?? "";
		});
		if (found === name) return;
	}
	assert.fail(`Tab does not reach “${name}”`);
}

/** Wait until the page has drawn what it has. */
function frames(page) {
	return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

test("all files are found below a prefix", async () => {
	const page = await open(its.browser, its.base);
	await row(page, "mail").waitFor();
	assert.match(page.url(), /\/tools\/queue\/$/);
	await closeQuietly(page);
});

test("no page is wider than a phone", async () => {
	const page = await open(its.browser, its.base, "", { viewport: PHONE });
	for (const hash of PAGES) {
		await visit(page, hash);
		await page.locator("h1").waitFor();
		await page.waitForTimeout(300);
		const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
		assert.ok(wide <= 0, `${hash} is ${wide} pixels too wide`);
	}
	await closeQuietly(page);
});

test("no page is wider than the window, whatever its width, or if letters are twice as large", async () => {
	its.db.run(["enqueue", "orders-of-the-warehouse-in-the-north", "--quiet", "--delay", "1h"], "x\n".repeat(10050));
	its.db.run(["cron", "add", "mail", "Argentina", "0 8 * * *", "--zone", "America/Argentina/Buenos_Aires"]);
	its.db.worker("orders-of-the-warehouse-in-the-north");
	const page = await open(its.browser, its.base);
	const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	for (const hash of PAGES) {
		await page.setViewportSize({ width: 360, height: 740 });
		await visit(page, hash);
		await page.locator("h1").waitFor();
		await allRead(page);
		for (const width of [360, 700, 780, 850, 900, 960, 1100]) {
			await page.setViewportSize({ width, height: 740 });
			await until(async () => (await overflow()) <= 0, `${hash} fits into ${width} pixels`, 2000);
		}
		await page.setViewportSize({ width: 360, height: 740 });
		await page.evaluate(() => (document.documentElement.style.fontSize = "28px"));
		await until(async () => (await overflow()) <= 0, `${hash} fits with large letters`, 2000);
		await page.evaluate(() => (document.documentElement.style.fontSize = ""));
	}
	await closeQuietly(page);
});

test("no digit of large totals is cut, whatever the width of the window", async () => {
	const page = await emptyPage(its.browser);
	await page.route(/v1\/events/, () => new Promise(() => undefined));
	await page.route(/v1\/stats$/, async (route) => {
		const body = await (await route.fetch()).json();
		Object.assign(body.queues[0], { ready: 21728390, running: 1234567, dead: 98765432 });
		await route.fulfill({ json: body });
	});
	await page.goto(its.base);
	await page.locator(".total", { hasText: "21,728," }).waitFor();
	for (const width of [320, 360, 390, 700, 800, 1280]) {
		await page.setViewportSize({ width, height: 740 });
		const cut = await page.evaluate(() => {
			const text = document.createRange();
			return [...document.querySelectorAll(".total dt, .total dd")]
				.filter((one) => {
					text.selectNodeContents(one);
					const inner = text.getBoundingClientRect();
					const outer = one.parentElement.getBoundingClientRect();
					const list = one.closest("dl").getBoundingClientRect();
					return inner.right > outer.right || outer.right > list.right || list.right > innerWidth;
				})
				.map((one) => one.textContent);
		});
		assert.deepEqual(cut, [], `${width} pixels`);
	}
	await closeQuietly(page);
});

test("no message is outside the window, however many there are", async () => {
	const page = await open(its.browser, its.base, "#/schedules", { viewport: PHONE });
	await page.route(/digest\/run$/, (route) =>
		route.fulfill({ status: 409, json: { status: 409, detail: "it did not work. ".repeat(12) } }),
	);
	const messages = page.locator(".toast");
	for (let n = 1; n < 10; n++) {
		await page.getByRole("button", { name: "Run digest now" }).evaluate((button) => button.click());
		await messages.nth(n - 1).waitFor();
		await page.locator("[aria-disabled=true]").waitFor({ state: "detached" });
	}
	const { y, height } = await page.locator("header").boundingBox();
	assert.ok((await messages.first().boundingBox()).y > y + height);
	await messages.last().getByRole("button").click();
	await until(async () => (await messages.count()) === 8, "8 messages");
	await page.context().close();
});

test("the button that closes a message can be seen under the pointer and with the focus", async () => {
	const page = await open(its.browser, its.base, "#/schedules");
	await page.getByRole("button", { name: "Run nightly now" }).click();
	const close = page.getByRole("button", { name: "Close message" });
	const style = (of, name) => of.evaluate((one, property) => getComputedStyle(one)[property], name);
	const ink = await style(page.locator(".toast"), "color");
	await close.hover();
	assert.equal(await style(close, "color"), ink);
	await page.keyboard.press("Tab"); // the next focus() is one by keyboard
	await close.focus();
	assert.equal(await style(close, "outlineColor"), ink);
	await closeQuietly(page);
});

/** Collect the parts that move up or down, in `moves`. */
function watchMoves() {
	window.moves = [];
	new PerformanceObserver((list) => {
		for (const { sources } of list.getEntries())
			for (const { node, previousRect, currentRect } of sources) {
				const by = Math.abs(currentRect.y - previousRect.y);
				if (by > 2) window.moves.push(`${node?.className || node?.nodeName}: ${by}`);
			}
	}).observe({ type: "layout-shift", buffered: true });
}

test("nothing moves from under the pointer when live numbers, charts, settings and reasons arrive", async () => {
	its.db.run(["queue", "set", "mail", "--limit", "5", "--rate", "100/1s"]);
	const live = (page) => page.getByText("Live", { exact: true }).waitFor();
	for (const viewport of [DESKTOP, PHONE])
		for (const [late, wait] of [
			[/v1\/events/, allRead],
			[/v1\/queues(\/\w+)?$/, live],
			[/\/why$/, live],
		])
			for (const hash of [...PAGES, "#/queue/imports"]) {
				const page = await emptyPage(its.browser, { viewport });
				await page.addInitScript(watchMoves);
				let waiting = 0;
				page.on("response", (answer) => late.test(answer.url()) && waiting--);
				await page.route(late, async (route) => {
					waiting++;
					await wait(page);
					await frames(page);
					await route.continue();
				});
				await page.goto(its.base + hash);
				await live(page);
				await until(() => waiting === 0, "the late answer");
				await allRead(page);
				if (hash.startsWith("#/queue/")) await page.locator(".chart canvas").last().waitFor();
				await frames(page);
				assert.deepEqual(await page.evaluate(() => window.moves), [], `${hash}, ${late} late, ${viewport.width} wide`);
				await closeQuietly(page);
			}
	its.db.run(["queue", "set", "mail", "--limit", "none", "--rate", "none"]);
});

test("each control outside a text is large enough for a finger", async () => {
	const page = await open(its.browser, its.base);
	for (const hash of PAGES) {
		await visit(page, hash);
		await page.locator("h1").waitFor();
		await allRead(page);
		const small = await page.evaluate(() =>
			[...document.querySelectorAll("header a, button, .button, .bar a, .tabs a, .views a, input")]
				.filter((one) => !one.closest("h1") && one.checkVisibility())
				.map((one) => [one.textContent || one.name, one.getBoundingClientRect()])
				.filter(([, { width, height }]) => Math.min(width, height) < 24)
				.map(([name, { width, height }]) => `${name}: ${width} x ${height}`),
		);
		assert.deepEqual(small, [], hash);
	}
	await closeQuietly(page);
});

test("the header of a phone has two lines, also with a token, a server that only reads, or no connection", async () => {
	const token = its.db.run(["token", "add", "ops", "--may", "read:*"]).trim();
	for (const option of ["--read-only", "--tokens"]) {
		const server = await its.db.serve(option);
		const page = await open(its.browser, server.base, "", { viewport: PHONE });
		if (option === "--tokens") {
			await page.getByLabel("Token").fill(token);
			await page.keyboard.press("Enter");
		}
		await page.getByText(option === "--tokens" ? "Log out" : "read-only").waitFor();
		await page.getByText("Live", { exact: true }).waitFor();
		const check = async (state) => {
			for (const width of [PHONE.width, 320]) {
				await page.setViewportSize({ ...PHONE, width });
				const { height } = await page.locator("header").boundingBox();
				assert.ok(height < 90, `${option}, ${state}, ${width} wide: ${height} pixels`);
				// Just after a change of the width the page may be wider for a moment.
				await until(
					async () => (await page.evaluate(() => document.documentElement.scrollWidth)) === width,
					`${option}, ${state}: a page of ${width} pixels`,
				);
			}
		};
		await check("live");
		await its.db.stop(server);
		await page.getByRole("button", { name: "Try now" }).waitFor();
		await check("not connected");
		await page.context().close();
	}
});

test("the field for a job's id has room above and below it, whatever the width of the window", async () => {
	const page = await open(its.browser, its.base);
	await row(page, "mail").waitFor();
	for (const width of [320, 641, 1020, 1280]) {
		await page.setViewportSize({ width, height: 740 });
		const gaps = await page.evaluate(() => {
			const { top, bottom } = document.getElementById("find-job").getBoundingClientRect();
			const nav = document.querySelector("header nav").getBoundingClientRect();
			return [top, (nav.top > top ? nav.top : document.querySelector("header").offsetHeight) - bottom];
		});
		assert.ok(Math.min(...gaps) >= 4, `${width} wide: ${gaps}`);
	}
	await closeQuietly(page);
});

test("the current page is seen in the navigation of a very narrow window", async () => {
	const page = await open(its.browser, its.base, "#/doctor", { viewport: { width: 320, height: 740 } });
	const current = page.locator("header nav a[aria-current]");
	for (const name of ["Doctor", "Queues"]) {
		await visit(page, `#/${name.toLowerCase()}`);
		await current.getByText(name).waitFor();
		const isInside = async () => {
			const { x, width } = await current.boundingBox();
			return x > -1 && x + width < 321; // a browser scrolls by whole pixels
		};
		await until(isInside, `${name} is inside the window`, 2000);
	}
	await closeQuietly(page);
});

test("no text of a dialog is cut off on a phone", async () => {
	const ready = its.db.json(["list", "thumbnails", "--state", "ready"])[0].id;
	const page = await open(its.browser, its.base, "", { viewport: PHONE });
	for (const [hash, button] of [
		["#/queues", "Pause queue mail"],
		["#/queue/mail?view=settings", "Change settings…"],
		["#/queue/mail?state=dead", "Retry these…"],
		[`#/job/${ready}`, "Cancel…"],
		[`#/job/${ready}`, "Change…"],
	]) {
		await visit(page, hash);
		await page.getByRole("button", { name: button }).click();
		const dialog = page.getByRole("dialog");
		await dialog.waitFor();
		const cut = await dialog.evaluate((box) => box.scrollWidth - box.clientWidth);
		assert.equal(cut, 0, `${button} on ${hash}`);
		await page.keyboard.press("Escape");
	}
	await closeQuietly(page);
});

/** The relative luminance of a colour, see WCAG 2. */
function luminance([r, g, b]) {
	const [x, y, z] = [r, g, b].map((c) => {
		const s = c / 255;
		return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
	});
	return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}

for (const scheme of ["light", "dark"])
	test(`text, the borders of fields and the ring of the focus can be seen in the ${scheme} colours`, async () => {
		const page = await open(its.browser, its.base, "", { colorScheme: scheme });
		await row(page, "mail").waitFor();
		const colours = await page.evaluate(() => {
			const probe = document.createElement("i");
			document.body.append(probe);
			const of = (name) => {
				probe.style.color = `var(--${name})`;
				return getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number);
			};
			const states = ["scheduled", "blocked", "ready", "running", "done", "dead", "cancelled"];
			const names = ["paper", "card", "focus", "ink", "soft", "faint", "accent", ...states];
			const border = getComputedStyle(document.querySelector(".filter input")).borderColor;
			return { ...Object.fromEntries(names.map((name) => [name, of(name)])), border: border.match(/\d+/g).map(Number) };
		});
		const { paper, card, ...inks } = colours;
		assert.equal(luminance(paper) < 0.2, scheme === "dark");
		for (const [name, ink] of Object.entries(inks))
			for (const ground of [paper, card]) {
				const [low, high] = [luminance(ink), luminance(ground)].sort((a, b) => a - b);
				const contrast = (high + 0.05) / (low + 0.05);
				assert.ok(contrast >= (["border", "focus"].includes(name) ? 3 : 4.5), `${name}: contrast ${contrast.toFixed(1)}`);
			}
		await closeQuietly(page);
	});

test("what is current, and which line is which, can be seen in forced colours", async () => {
	const page = await open(its.browser, its.base, "#/queue/mail?state=dead", { forcedColors: "active" });
	const looks = (selector, pseudo) =>
		page.locator(selector).evaluateAll(
			(all, of) => all.map((one) => getComputedStyle(one, of)).map((style) => style.backgroundColor + style.borderBottomColor),
			pseudo,
		);
	await row(page, "421 try again").first().waitFor();
	for (const [links, most] of [
		["header nav a", 5],
		[".views a", 3],
		[".tabs a", 8],
	]) {
		const [current, ...others] = [...(await looks(`${links}[aria-current]`)), ...(await looks(`${links}:not([aria-current])`))];
		assert.equal(others.length, most - 1, links);
		assert.ok(!others.includes(current), links);
	}
	assert.notDeepEqual(await looks(".chart .key.done", "::before"), await looks(".chart .key.failed", "::before"));
	await row(page, "421 try again").first().locator("a.open").click();
	const dots = await until(async () => {
		const found = await looks(".timeline li", "::before");
		return found.length > 2 && found;
	}, "the timeline");
	assert.notEqual(dots[0], dots[1]);
	await closeQuietly(page);
});

test("a queue is paused by keyboard alone", async () => {
	const page = await open(its.browser, its.base);
	await row(page, "thumbnails").waitFor();
	await tabTo(page, "Pause queue thumbnails");
	const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
	assert.equal(outline, "solid");
	await page.keyboard.press("Enter");
	await page.getByRole("dialog").waitFor();
	await page.keyboard.type("lunch");
	await page.keyboard.press("Enter");
	await said(page, "Queue thumbnails is paused.");
	assert.equal(its.db.json(["stats", "thumbnails"])[0].pause_reason, "lunch");
	await closeQuietly(page);
});

test("the header hides nothing that has the focus", async () => {
	const page = await open(its.browser, its.base, "#/queue/thumbnails?state=ready");
	await row(page, "IMG_").last().waitFor();
	for (const [width, height] of [
		[1280, 450],
		[800, 450],
		[390, 450],
		[320, 200],
	]) {
		await page.setViewportSize({ width, height });
		await row(page, "IMG_").last().locator("a.open").focus();
		for (let i = 0; i < 30; i++) {
			await page.keyboard.press("Shift+Tab");
			const hidden = await page.evaluate(() => {
				const one = document.activeElement;
				const { top } = one.getBoundingClientRect();
				const { bottom } = document.querySelector("header").getBoundingClientRect();
				return one.closest("main") && top < Math.max(0, bottom) ? `${one.textContent}: ${top} < ${bottom}` : "";
			});
			assert.equal(hidden, "", `${width} x ${height}`);
		}
	}
	const bottom = await page.evaluate(() => {
		scrollTo(0, document.body.scrollHeight);
		return document.querySelector("header").getBoundingClientRect().bottom;
	});
	assert.ok(bottom <= 0, "the header of a very low window scrolls with the page");
	await closeQuietly(page);
});

test("shortcuts lead to each page, along rows and to help", async () => {
	const page = await open(its.browser, its.base);
	await row(page, "mail").waitFor();
	for (const [key, title] of [
		["d", "Dead jobs"],
		["w", "Workers"],
		["s", "Schedules"],
		["f", "Doctor"],
		["q", "Queues"],
	]) {
		await page.keyboard.press("g");
		await page.keyboard.press(key);
		await until(async () => (await page.title()).startsWith(title), title);
	}
	await row(page, "mail").waitFor();
	await page.keyboard.press("j");
	await page.keyboard.press("j");
	await page.keyboard.press("Enter");
	await until(async () => (await page.title()).startsWith("mail"), "the second queue");
	await visit(page, "#/schedules");
	await row(page, "yearly").waitFor();
	for (const key of ["k", "k", "j"]) await page.keyboard.press(key);
	await page.keyboard.press("Enter");
	await until(async () => (await page.title()).startsWith("reports"), "the queue of the last schedule");
	await page.keyboard.press("?");
	await page.getByRole("dialog").getByText("Keyboard shortcuts").waitFor();
	await page.keyboard.press("Escape");
	await until(async () => (await page.getByRole("dialog").count()) === 0, "no dialog");
	await page.keyboard.press("/");
	await page.keyboard.type("3");
	await page.keyboard.press("Enter");
	await until(async () => (await page.title()).startsWith("Job 3"), "job 3");
	await closeQuietly(page);
});

test("a dialog that closes does not take the focus from what has it by then", async () => {
	const page = await open(its.browser, its.base);
	await row(page, "mail").waitFor();
	await page.keyboard.press("j");
	await page.keyboard.press("?");
	await page.getByRole("dialog").waitFor();
	await page.evaluate(() => {
		document.querySelector("dialog").close();
		document.getElementById("find-job").focus();
	});
	await until(async () => (await page.locator("dialog").count()) === 0, "no dialog");
	assert.equal(await page.evaluate(() => document.activeElement.id), "find-job");
	await closeQuietly(page);
});

test("letters in a field are no shortcuts", async () => {
	const page = await open(its.browser, its.base);
	await row(page, "mail").waitFor();
	const field = page.getByPlaceholder("Name contains");
	await field.pressSequentially("gd?/j");
	assert.equal(await field.inputValue(), "gd?/j");
	assert.match(await page.title(), /^Queues/);
	await closeQuietly(page);
});

test("what was typed stays when the first live numbers arrive", async () => {
	const page = await emptyPage(its.browser);
	let pass;
	const typed = new Promise((resolve) => (pass = resolve));
	await page.route(/v1\/events/, async (route) => {
		await typed;
		await route.continue();
	});
	await page.goto(its.base);
	await row(page, "mail").waitFor();
	const field = page.getByPlaceholder("Name contains");
	await field.pressSequentially("mai");
	pass();
	its.db.run(["enqueue", "maize", "x", "--quiet"]);
	await row(page, "maize").waitFor(); // a new queue comes with live numbers
	assert.equal(await field.inputValue(), "mai");
	await closeQuietly(page);
});

test("each control has a name, and each page one heading", async () => {
	const page = await open(its.browser, its.base);
	for (const hash of [...PAGES, "#/nowhere"]) {
		await visit(page, hash);
		await page.locator("h1").waitFor();
		await page.waitForTimeout(300);
		assert.equal(await page.locator("h1").count(), 1, hash);
		const nameless = await page.evaluate(() =>
			[...document.querySelectorAll("a, button, input")]
				.filter((one) => !one.textContent.trim() && !one.getAttribute("aria-label") && !one.labels?.length)
				.map((one) => one.outerHTML),
		);
		assert.deepEqual(nameless, [], hash);
	}
	await closeQuietly(page);
});
