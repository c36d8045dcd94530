import { Type, type Static } from "@sinclair/typebox";
import { nameCharactersMax } from "../../accounts/limits.ts";
import { line, usd } from "../../accounts/workspaces/fields.ts";
import { WorkspaceView } from "../../accounts/workspaces/schema.ts";

export const CreditForm = Type.Object({
  usd: usd("The amount added"),
  ref: line(`a reference of at most ${nameCharactersMax} characters`, {
    minLength: 1,
    title: "The payment's reference; it adds once, and is refused with another amount",
  }),
});
export type CreditForm = Static<typeof CreditForm>;

export const CreditView = Type.Pick(WorkspaceView, ["balance_usd", "reserved_usd", "available_usd"]);
export type CreditView = Static<typeof CreditView>;
