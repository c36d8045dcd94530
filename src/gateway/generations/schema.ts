/**
 * Views of the request log: what a client of the control API sees of a generation, in a list and with all its details. Amounts are decimal
 * texts in USD; the descriptions of the fields are those of the OpenAPI description.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Caller } from "../../accounts/keys/store.ts";
import { text, textOrNull } from "../../http/json-schema.ts";
import { logFields, type GenerationRow } from "../generation-fields.ts";

const tokens = (description: string) => Type.Integer({ minimum: 0, description });

export const GenerationView = logFields.schema;
export type GenerationView = Static<typeof GenerationView>;

export const LogView = Type.Object({
  data: Type.Array(GenerationView, { description: "What was found" }),
  next: textOrNull("The value of `before` for older ones; null: there are none"),
  searched: Type.Union([Type.Integer(), Type.Null()], {
    description:
      "With `status`, `code`, `endpoint` or `provider`, and with `model` for the requests of a key or a member: how many generations were read to find them, newest first, at most 3,000; null: without these filters",
  }),
});
export type LogView = Static<typeof LogView>;

const PriceLine = Type.Object({
  part: Type.Union([Type.Literal("input"), Type.Literal("cache_read"), Type.Literal("cache_write"), Type.Literal("output")], {
    description: "The tokens that it prices",
  }),
  tokens: tokens("How many"),
  usd_per_million: text("The price of a million of them, in USD"),
  exact_usd: text("The cost of them, in USD with twelve decimals"),
});
export type PriceLine = Static<typeof PriceLine>;

/** One generation with everything known about it. */
export const GenerationDetail = Type.Composite([
  GenerationView,
  Type.Object({
    outcome: Type.Union([Type.Literal("settled"), Type.Literal("unknown"), Type.Literal("expired")], {
      description: "`settled`: it ended; `unknown` and `expired`: its gateway died, and it is charged nothing",
    }),
    price_lines: Type.Union([Type.Array(PriceLine), Type.Null()], {
      description:
        "The computation of `exact_cost_usd`, or of `list_cost_usd` with an own key; null: the catalog's current prices do not give it",
    }),
    exact_cost_usd: text("The true cost before it was rounded half up, in USD with twelve decimals"),
    uncharged_usd: text(
      "The part of the true cost above the reserved amount, which the service bears, in USD with nine decimals",
    ),
    prompt_stored: Type.Boolean({ description: "Whether the prompt is stored" }),
  }),
]);
export type GenerationDetail = Static<typeof GenerationDetail>;

/** @param caller undefined: it is unknown */
export function viewGeneration(row: GenerationRow, caller: Caller | undefined): GenerationView {
  return logFields.of({ ...row, caller });
}
