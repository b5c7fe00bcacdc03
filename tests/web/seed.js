// Fill a database like a real one, with jobs in every state.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

const MAILS = 30;
const IMAGES = 24;

function numbers(count, line) {
	return Array.from({ length: count }, (_, i) => line(i + 1)).join("\n");
}

/** Mails: most are done, some are dead because their server refused them. */
function mail(db) {
	db.run(["queue", "set", "mail", "--max-attempts", "2", "--backoff", "1ms", "--keep-done", "7d"]);
	db.run(
		["enqueue", "mail", "--quiet", "--kind", "welcome", "--header", "trace=4bf92f3577b3"],
		numbers(MAILS, (n) => `{"to":"user${n}@example.org","template":"welcome","user":${n}}`),
	);
	const handler = 'case $(cat) in *7}|*3}) echo "smtp.example.org: 421 try again ($$)" >&2; exit 1;; esac';
	db.attempt(["work", "mail", "--drain=settled", "--quiet", "--", "sh", "-c", handler]);
}

function imports(db) {
	db.run(["queue", "set", "imports", "--max-attempts", "1"]);
	db.run(["enqueue", "imports", "--quiet", "--kind", "csv"], numbers(9, (n) => `file-${n}.csv`));
	const handler = 'read -r f; n=${f#*-}; n=${n%.csv}; echo "line $n: column 4 is not a number" >&2; exit 65';
	db.attempt(["work", "imports", "--drain", "--quiet", "--", "sh", "-c", handler]);
	db.run(["enqueue", "imports", "--quiet", "--kind", "csv"], numbers(3, (n) => `big-${n}.csv`));
	db.fail("imports", "no space left on device");
	db.run(["enqueue", "imports", "--quiet", "--kind", "csv", "last-1.csv"]);
	db.run(["pause", "imports", "--reason", "the partner sends broken files: ask Ada"]);
}

/** Two jobs run, the others wait, because of the queue's limit. */
function thumbnails(db) {
	db.run(["queue", "set", "thumbnails", "--limit", "2"]);
	db.run(
		["enqueue", "thumbnails", "--quiet", "--kind", "jpeg"],
		numbers(IMAGES, (n) => `/srv/photos/2026/IMG_${1000 + n}.jpg`),
	);
}

function schedules(db) {
	db.run(["queue", "set", "reports"]);
	db.enqueue("reports", '{"week":48}', "--delay", "3h", "--unique", "week-48");
	db.run(["cron", "add", "reports", "nightly", "30 2 * * *", "--zone", "Europe/Berlin"]);
	db.run(["cron", "add", "mail", "digest", "every 5m", "--kind", "digest"]);
	db.run(["cron", "add", "reports", "yearly", "@yearly"]);
	db.run(["cron", "pause", "yearly"]);
}

export function seed(db) {
	mail(db);
	imports(db);
	thumbnails(db);
	schedules(db);
}
