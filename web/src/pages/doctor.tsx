// The findings of the doctor, worst first: what is or will soon be wrong with the
// database, and what to do about it.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { useAnswer } from "../answer";
import { plural } from "../format";
import { Name, visible } from "../name";
import { Empty, Shown } from "../parts/answer";
import { Button } from "../parts/button";
import { link } from "../route";
import type { Finding } from "../types";

const LEVELS = ["danger", "trouble", "warning"] as const;

function Card({ of }: { of: Finding }) {
	const queue = of.about?.queue;
	const example = of.about?.example;
	return (
		<li class={`finding ${of.level}`}>
			<p class="what">
				<span class="tag">{of.level}</span> {visible(of.finding ?? "")}
			</p>
			<p class="fix">{visible(of.fix ?? "")}</p>
			<p class="soft">
				check {of.check}
				{typeof queue === "string" && (
					<>
						{" · "}
						<a href={link(["queue", queue])}>
							queue <Name of={queue} />
						</a>
					</>
				)}
				{typeof example === "number" && (
					<>
						{" · "}
						<a href={link(["job", String(example)])}>job {example}</a>
					</>
				)}
			</p>
		</li>
	);
}

export function DoctorPage() {
	const answer = useAnswer<{ findings: Finding[] }>("v1/doctor");
	return (
		<>
			<div class="bar">
				<h1>Doctor</h1>
				<Button off={answer.loading} onClick={answer.reload}>
					{answer.loading ? "Examining…" : "Examine again"}
				</Button>
			</div>
			<Shown answer={answer}>
				{({ findings }) => {
					const found = LEVELS.flatMap((level) => findings.filter((one) => one.level === level));
					const undone = findings.filter((one) => one.not_done);
					return (
						<>
							{found.length ? (
								<ul class="findings">
									{found.map((one, i) => (
										<Card key={i} of={one} />
									))}
								</ul>
							) : (
								<Empty title="Doctor found nothing wrong." />
							)}
							{undone.length > 0 && (
								<section>
									<h2>{plural(undone.length, "check was", "checks were")} not done</h2>
									<ul>
										{undone.map((one) => (
											<li key={one.check}>
												<b>{one.check}</b>: {one.not_done}
											</li>
										))}
									</ul>
								</section>
							)}
						</>
					);
				}}
			</Shown>
		</>
	);
}
