// screenshots.js FOLDER - write pictures of the dashboard, over a database with a
// small load. tools/web-screenshots calls it.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { join } from "node:path";
import { launch, open, PHONE, row, visit } from "./browser.js";
import { Database, sleep, until } from "./readpast.js";
import { seed } from "./seed.js";

const folder = process.argv[2];
const SIZE = { width: 1200, height: 750 };
/** How long the load runs before the first picture, so that charts have lines. */
const LOAD_MS = Number(process.env.LOAD_MS ?? 100000);
const ROUND_MS = 700;

/** Make a load of orders, which come in waves and take some tenths of a second. Some
 * of them fail. */
function orders(db) {
	db.run(["queue", "set", "orders", "--keep-done", "1h", "--backoff", "5s"]);
	const handler = 'sleep 0.$((RANDOM % 6)); case $RANDOM in *7) echo "order service: 503" >&2; exit 1;; esac';
	db.start(["work", "orders", "-j4", "--quiet", "--", "bash", "-c", handler]);
	db.worker("thumbnails", 2);
	let round = 0;
	return setInterval(() => {
		const wave = Math.max(0, Math.round(6 + 7 * Math.sin(round++ / 14)));
		const lines = Array.from({ length: wave }, (_, i) => `{"order":${5000 + 10 * round + i}}`);
		if (wave) db.start(["enqueue", "orders", "--quiet", "--kind", "settle", "--group", "shop-1", ...lines]);
	}, ROUND_MS);
}

async function take(page, name) {
	await page.mouse.move(0, 0);
	await page.screenshot({ path: join(folder, `serve-${name}.png`) });
}

async function pictures(page, db) {
	const dead = db.json(["list", "mail", "--state", "dead"])[0].id;
	const running = db.json(["list", "thumbnails", "--state", "running"]).length;
	if (running !== 2) throw new Error(`${running} thumbnails run, and not 2`);
	await take(page, "queues");
	await visit(page, "#/queue/imports?state=dead");
	await row(page, "not a number").first().waitFor();
	await take(page, "queue");
	await page.getByRole("button", { name: "Retry these…" }).click();
	await page.getByRole("dialog").getByText("jobs match now").waitFor();
	await take(page, "retry");
	await page.keyboard.press("Escape");
	await visit(page, `#/job/${dead}`);
	await page.getByText("has been dead since").waitFor();
	await take(page, "job");
	await visit(page, "#/dead");
	await page.getByText("in the newest").waitFor();
	await take(page, "dead");
	await visit(page, "#/workers");
	await page.locator("ul.running a").first().waitFor();
	await take(page, "workers");
	await visit(page, "#/schedules");
	await row(page, "nightly").waitFor();
	await take(page, "schedules");
	await visit(page, "#/doctor");
	await page.locator(".finding").first().waitFor();
	await take(page, "doctor");
}

/** Take pictures in dark mode and in the size of a phone. This uses the same browser
 * page, because the charts of a new page would have no lines yet. */
async function variants(page) {
	await page.emulateMedia({ colorScheme: "dark" });
	await visit(page, "#/queue/orders?state=done");
	await row(page, "done").first().waitFor();
	await sleep(1000);
	await take(page, "dark");
	await page.setViewportSize(PHONE);
	await page.emulateMedia({ colorScheme: "light" });
	await visit(page, "#/queues");
	await row(page, "mail").waitFor();
	await sleep(1000);
	await take(page, "phone");
}

const db = new Database();
let load;
let browser;
try {
	seed(db);
	const server = await db.serve();
	browser = await launch();
	const page = await open(browser, server.base, "", { viewport: SIZE });
	load = orders(db);
	await until(() => db.json(["stats", "thumbnails"])[0].running === 2, "two running jobs");
	await sleep(LOAD_MS);
	await pictures(page, db);
	await variants(page);
} finally {
	clearInterval(load);
	await browser?.close();
	await db.remove();
}
