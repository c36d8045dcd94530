import type { OwnKeyView } from "../../../gateway/own-keys/schema.ts";
import type { Html } from "../../../http/html.ts";
import { badge, type Tone } from "../../look/badge.ts";

const tones: Record<OwnKeyView["state"], Tone> = { active: "good", refused: "bad", disabled: "neutral" };

export function keyState(state: OwnKeyView["state"]): Html {
  return badge(tones[state], state);
}
