import type { FleetView } from "../../../../src/backing/fleet-state.ts";
import { statusText } from "../../print-status.ts";
import type { Verb } from "../../verb.ts";

export const serviceVerbs: readonly Verb[] = [
  {
    noun: "service",
    verb: "show",
    summary: "Show the state of the process that answers: its version, what it depends on, and its alarms",
    method: "GET",
    path: "/service",
    flags: [],
  },
  {
    noun: "status",
    verb: "",
    summary: "Show what runs, in which version and on which schema, and what waits for the ledger; exits 1 if there is a problem",
    method: "GET",
    path: "/status",
    flags: [],
    show: (body) => statusText(body as FleetView),
  },
];
