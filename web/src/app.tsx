// The frame around each page: navigation, search by id, login, messages.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { needsToken } from "./api";
import { helpIsOpen } from "./keys";
import { connection, reconnect } from "./live";
import { named } from "./name";
import { JobPage } from "./pages/job";
import { LoginPage } from "./pages/login";
import { QueuePage } from "./pages/queue";
import { Empty } from "./parts/answer";
import { Help } from "./parts/help";
import { PLACES } from "./places";
import { go, link, route } from "./route";
import { logOut, session } from "./session";
import { Toasts } from "./toast";

function pageOf(path: string[]): { title: string; place: string; page: ComponentChildren } {
	const [first = "queues", name] = path;
	const found = PLACES.find((one) => one.path === first);
	if (found) return { title: found.title, place: first, page: <found.Page /> };
	if (first === "queue" && name)
		return { title: named(name), place: "queues", page: <QueuePage key={name} name={name} /> };
	if (first === "job" && name)
		return { title: `Job ${name}`, place: "queues", page: <JobPage key={name} id={name} /> };
	return {
		title: "Not found",
		place: "",
		page: (
			<Empty title="There is no such page." isPage>
				<a href={link(["queues"])}>Show all queues</a>
			</Empty>
		),
	};
}

function Connection() {
	const texts = { live: "Live", connecting: "Connecting…", late: "Numbers are old", lost: "Not connected" };
	const state = connection.value;
	return (
		<span class={`connection ${state}`} role="status">
			{texts[state]}
			{(state === "late" || state === "lost") && (
				<button type="button" class="plain" onClick={reconnect}>
					Try now
				</button>
			)}
		</span>
	);
}

function FindJob() {
	return (
		<form
			role="search"
			class="find"
			onSubmit={(event) => {
				event.preventDefault();
				const input = event.currentTarget.elements.namedItem("id") as HTMLInputElement;
				const id = input.value.trim();
				if (id) go(["job", id]);
				input.value = "";
			}}
		>
			<label for="find-job" class="hidden">
				Find a job by its id
			</label>
			<input id="find-job" name="id" inputMode="numeric" pattern="\s*[0-9]+\s*" placeholder="Job id" title="The number of a job" autoComplete="off" />
		</form>
	);
}

function Head({ place }: { place: string }) {
	const { database, read_only, token } = session.value;
	const nav = useRef<HTMLElement>(null);

	// In a very narrow window the navigation is wider than the window.
	useEffect(() => {
		nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
	}, [place]);
	return (
		<header class="top">
			<a class="brand" href={link(["queues"])}>
				<img src="./icon.svg" alt="" width="22" height="22" />
				readpast
			</a>
			<nav ref={nav} aria-label="Pages">
				{PLACES.map(({ path, name }) => (
					<a key={path} href={link([path])} aria-current={path === place ? "page" : undefined}>
						{name}
					</a>
				))}
			</nav>
			<div class="side">
				{read_only && <span class="tag">read-only</span>}
				{database && (
					<span class="database" title={database}>
						{database.split("/").pop()}
					</span>
				)}
				<Connection />
				<FindJob />
				<button type="button" class="plain shortcuts" title="Keyboard shortcuts (?)" aria-label="Keyboard shortcuts" onClick={() => (helpIsOpen.value = true)}>
					?
				</button>
				{token && (
					<button type="button" class="plain" title={`Token ${token}`} onClick={logOut}>
						Log out
					</button>
				)}
			</div>
		</header>
	);
}

export function App() {
	const main = useRef<HTMLElement>(null);
	const { path } = route.value;
	const { title, place, page } = pageOf(path);
	const heading = needsToken.value ? "Log in" : title;
	const where = path.join("/");
	const shown = useRef(where);

	useEffect(() => {
		document.title = `${heading} · readpast`;
		if (shown.current === where) return;
		shown.current = where;
		// A screen reader reads on from the new page, not from the old link.
		main.current?.focus({ preventScroll: true });
	}, [where, heading]);

	if (needsToken.value) return <LoginPage />;
	return (
		<>
			<a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
				Skip to the page
			</a>
			<Head place={place} />
			<main ref={main} id="main" tabIndex={-1}>
				{page}
			</main>
			<Toasts />
			<Help />
		</>
	);
}
