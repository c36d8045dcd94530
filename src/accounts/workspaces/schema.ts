/**
 * Forms and views of workspaces, their settings, their members, people's accounts and saved views, as the control API accepts and shows them.
 *
 * A setting has one description (`about`), which the form, the view, the command's help and the reference share. A schema checks only the
 * form of a value. Verbs decide whether it fits the others, and who may see it.
 */
import { Type, type Static } from "@sinclair/typebox";
import { text, textOrNull } from "../../http/json-schema.ts";
import { Role } from "../audit/actor.ts";
import { promptRetentionDaysMax, savedViewCharactersMax, savedViewNameCharactersMax } from "../limits.ts";
import { emailOf, leftWords, line, usd } from "./fields.ts";

/** The descriptions of settings in forms and views. */
const about = {
  enabled: "Whether the platform is on: the workspace's keys are served and new ones can be created",
  spend_limit_usd: "The most that all its keys together may spend in a calendar month (UTC), in USD; null: no limit",
  daily_spend_limit_usd: "The most that all its keys together may spend in a day (UTC), in USD; null: no limit",
  fallbacks: "Whether a failed call of a provider is tried once more",
  zero_data_retention: "Whether only providers that store no data may serve",
  prompt_storage: "Whether prompts and answers are stored, sealed",
  prompt_retention_days:
    "How many days stored prompts and answers are kept before they are deleted; null: until they are deleted",
  cost_in_answers: "Whether the usage in answers includes the charge even if the request does not ask for it",
  idempotent_replay:
    "Whether answers to requests with an Idempotency-Key are kept for 24 hours, sealed, and sent again; never with zero data retention",
  own_key_fallback: "Whether models that an own provider key serves may also be served on credit, by other providers",
  early_access: "Early-access features that are switched on",
};

export const WorkspaceForm = Type.Object({
  name: line("a name", { minLength: 1, title: "Its name, which must be unique" }),
  credit_usd: Type.Optional(usd("Its first credit")),
});
export type WorkspaceForm = Static<typeof WorkspaceForm>;

export const WorkspaceSettings = Type.Object({
  enabled: onOrOff(about.enabled),
  spend_limit_usd: Type.Optional(
    Type.Union([usd(), Type.Null()], {
      title: about.spend_limit_usd,
      description: 'an amount of USD as a string, such as "12.50", or null',
    }),
  ),
  daily_spend_limit_usd: Type.Optional(
    Type.Union([usd(), Type.Null()], {
      title: about.daily_spend_limit_usd,
      description: 'an amount of USD as a string, such as "12.50", or null',
    }),
  ),
  fallbacks: onOrOff(about.fallbacks),
  zero_data_retention: onOrOff(about.zero_data_retention),
  prompt_storage: onOrOff(about.prompt_storage),
  prompt_retention_days: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: promptRetentionDaysMax }), Type.Null()], {
      title: about.prompt_retention_days,
      description: `a whole number of days from 1 to ${promptRetentionDaysMax}, or null`,
    }),
  ),
  cost_in_answers: onOrOff(about.cost_in_answers),
  idempotent_replay: onOrOff(about.idempotent_replay),
  own_key_fallback: onOrOff(about.own_key_fallback),
  early_access: Type.Optional(
    Type.Array(line("a feature"), { maxItems: 16, title: about.early_access, description: "a list of features" }),
  ),
});
export type WorkspaceSettings = Static<typeof WorkspaceSettings>;

const unlessUnavailable = "in USD with nine decimals; null: the counters cannot answer at present";

export const WorkspaceView = Type.Object({
  id: text("The workspace's id"),
  name: text("The workspace's unique name"),
  enabled: Type.Boolean({ description: about.enabled }),
  spend_limit_usd: textOrNull(about.spend_limit_usd),
  daily_spend_limit_usd: textOrNull(about.daily_spend_limit_usd),
  fallbacks: Type.Boolean({ description: about.fallbacks }),
  zero_data_retention: Type.Boolean({ description: about.zero_data_retention }),
  prompt_storage: Type.Boolean({ description: about.prompt_storage }),
  prompt_retention_days: Type.Union([Type.Integer(), Type.Null()], { description: about.prompt_retention_days }),
  cost_in_answers: Type.Boolean({ description: about.cost_in_answers }),
  idempotent_replay: Type.Boolean({ description: about.idempotent_replay }),
  own_key_fallback: Type.Boolean({ description: about.own_key_fallback }),
  early_access: Type.Array(Type.String(), { description: about.early_access }),
  balance_usd: text("Credit added minus everything charged, in USD with nine decimals"),
  reserved_usd: textOrNull(`The amount reserved for current requests, ${unlessUnavailable}`),
  available_usd: textOrNull(`The balance minus the reserved amount, ${unlessUnavailable}`),
  month: text("The current month in UTC, as YYYY-MM"),
  month_spent_usd: text("The charges of the current month, in USD with nine decimals"),
  day_spent_usd: textOrNull("The charges of today (UTC), in USD with nine decimals; null: it has no daily limit"),
  month_left_usd: textOrNull(leftWords("the monthly limit")),
  day_left_usd: textOrNull(leftWords("the daily limit")),
});
export type WorkspaceView = Static<typeof WorkspaceView>;

export const MemberForm = Type.Object({ email: emailOf("The person's address"), role: Role });
export type MemberForm = Static<typeof MemberForm>;

export const MemberView = Type.Object({
  email: text("The person's e-mail address"),
  role: Role,
  state: text(
    "`pending` until the person accepts, `declined`, `withdrawn` (the invitation was taken back), `active`, `deactivated`, or the state of the person's account: `suspended`, `locked` or `deleted`",
  ),
  monthly_spend_limit_usd: textOrNull(
    "What their keys and the Workbench may spend in a calendar month (UTC), in USD; null: no limit, and for a member who may not see it",
  ),
});
export type MemberView = Static<typeof MemberView>;

const overseen = "null for a member who may not see it";

/** A member in a list, with what their keys do. */
export const ListedMember = Type.Composite([
  MemberView,
  Type.Object({
    active_keys: Type.Union([Type.Integer(), Type.Null()], {
      description: `How many keys they have in this workspace; ${overseen}`,
    }),
    month_spent_usd: textOrNull(
      `What their keys and the Workbench have spent in the current month (UTC), in USD with nine decimals; ${overseen}`,
    ),
    reserved_usd: textOrNull(
      `What their open requests reserve, in USD with nine decimals; null: not known at present, and ${overseen}`,
    ),
    month_left_usd: textOrNull(leftWords("their monthly limit")),
    last_seen_at: textOrNull(
      `When they last used this workspace in the Console, to the minute, ISO 8601 in UTC; null: never, and ${overseen}`,
    ),
  }),
]);
export type ListedMember = Static<typeof ListedMember>;

export const MemberEdit = Type.Object({
  role: Type.Optional(Role),
  monthly_spend_limit_usd: Type.Optional(
    Type.Union([usd(), Type.Null()], {
      title: "What their keys and the Workbench may spend in a calendar month (UTC)",
      description: 'an amount of USD as a string, such as "50", or null for no limit',
    }),
  ),
});
export type MemberEdit = Static<typeof MemberEdit>;

export const AccountView = Type.Object({
  email: text("The person's e-mail address"),
  role: Type.Union([Role, Type.Null()], {
    description: "The person's role if it is the same in all workspaces; null: the roles differ",
  }),
  state: text("`active`, `suspended`, `locked` or `deleted`"),
});
export type AccountView = Static<typeof AccountView>;

function onOrOff(title: string) {
  return Type.Optional(Type.Boolean({ title, description: "true or false" }));
}

// Saved views of lists

/** The lists that are arranged by their address. A page of the Console is called like its list. */
export const savedLists = [
  "components",
  "connections",
  "findings",
  "keys",
  "members",
  "projects",
  "provider-keys",
  "requests",
  "statements",
  "vulnerabilities",
] as const;
export type SavedList = (typeof savedLists)[number];

export const SavedView = Type.Object({
  id: text("The view's id"),
  list: Type.Unsafe<SavedList>(
    Type.Union(
      savedLists.map((list) => Type.Literal(list)),
      { description: "The list that it arranges" },
    ),
  ),
  name: text("Its name, once for each list"),
  query: text("Filters, order and columns as the query of the list's address, in the order of their names"),
  default: Type.Boolean({ description: "Whether the Console's menu opens the list with it" }),
});
export type SavedView = Static<typeof SavedView>;

export const viewName = line("a name", {
  title: `Its name, at most ${savedViewNameCharactersMax} characters`,
  minLength: 1,
  maxLength: savedViewNameCharactersMax,
});
export const viewQuery = line("the query of an address", {
  title: "The query of the list's address, such as severity=critical&sort=-epss",
  minLength: 1,
  maxLength: savedViewCharactersMax,
});
