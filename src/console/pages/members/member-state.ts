import type { Html } from "../../../http/html.ts";
import { badge, type Tone } from "../../look/badge.ts";

const tones: Record<string, Tone> = {
  active: "good",
  pending: "warn",
  declined: "neutral",
  withdrawn: "neutral",
  deactivated: "neutral",
  suspended: "warn",
  locked: "warn",
  deleted: "bad",
};

/** @param state of a member, as the control API has it */
export function memberState(state: string): Html {
  return badge(tones[state] ?? "neutral", state);
}
