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
];
