// The pages of the navigation, in its order.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import type { ComponentType } from "preact";
import { DeadPage } from "./pages/dead";
import { DoctorPage } from "./pages/doctor";
import { QueuesPage } from "./pages/queues";
import { SchedulesPage } from "./pages/schedules";
import { WorkersPage } from "./pages/workers";

interface Place {
	/** the first segment of its address */
	path: string;
	/** the name in the navigation */
	name: string;
	title: string;
	/** the key that opens it, after `g` */
	key: string;
	Page: ComponentType;
}

export const PLACES: Place[] = [
	{ path: "queues", name: "Queues", title: "Queues", key: "q", Page: QueuesPage },
	{ path: "dead", name: "Dead", title: "Dead jobs", key: "d", Page: DeadPage },
	{ path: "workers", name: "Workers", title: "Workers", key: "w", Page: WorkersPage },
	{ path: "schedules", name: "Schedules", title: "Schedules", key: "s", Page: SchedulesPage },
	{ path: "doctor", name: "Doctor", title: "Doctor", key: "f", Page: DoctorPage },
];
