import { Type, type Static } from "@sinclair/typebox";
import { Role } from "../audit/actor.ts";
import { Email, line, usd } from "./fields.ts";

const onOrOff = "true or false";

export const WorkspaceForm = Type.Object({
  name: line("a name", { minLength: 1 }),
  /** Its first credit. */
  credit_usd: Type.Optional(usd()),
});
export type WorkspaceForm = Static<typeof WorkspaceForm>;

export const WorkspaceSettings = Type.Object({
  enabled: Type.Optional(Type.Boolean({ description: onOrOff })),
  spend_limit_usd: Type.Optional(
    Type.Union([usd(), Type.Null()], { description: 'an amount of USD as a string, such as "12.50", or null' }),
  ),
  fallbacks: Type.Optional(Type.Boolean({ description: onOrOff })),
  zero_data_retention: Type.Optional(Type.Boolean({ description: onOrOff })),
  prompt_storage: Type.Optional(Type.Boolean({ description: onOrOff })),
  early_access: Type.Optional(Type.Array(line("a feature"), { maxItems: 16, description: "a list of features" })),
});
export type WorkspaceSettings = Static<typeof WorkspaceSettings>;

const Amount = Type.String();
const AmountOrNull = Type.Union([Amount, Type.Null()]);

export const WorkspaceView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  enabled: Type.Boolean(),
  spend_limit_usd: AmountOrNull,
  fallbacks: Type.Boolean(),
  zero_data_retention: Type.Boolean(),
  prompt_storage: Type.Boolean(),
  early_access: Type.Array(Type.String()),
  balance_usd: Amount,
  /** null, as the available credit: the counters cannot answer at present. */
  reserved_usd: AmountOrNull,
  available_usd: AmountOrNull,
  month: Type.String(),
  month_spent_usd: Amount,
});
export type WorkspaceView = Static<typeof WorkspaceView>;

export const MemberForm = Type.Object({ email: Email, role: Role });
export type MemberForm = Static<typeof MemberForm>;

export const MemberView = Type.Object({ email: Type.String(), role: Role, state: Type.String() });
export type MemberView = Static<typeof MemberView>;

export const MemberEdit = Type.Pick(MemberForm, ["role"]);

/** `role`: what the person is in every workspace of theirs; null where they are one thing here and another there. */
export const AccountView = Type.Object({
  email: Type.String(),
  role: Type.Union([Role, Type.Null()]),
  state: Type.String(),
});
export type AccountView = Static<typeof AccountView>;
