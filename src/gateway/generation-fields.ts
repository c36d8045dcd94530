/**
 * The fields of a generation: each is here once, with its place on the wire, its column and everything that shows it. The codec of
 * settlements, the statements that write and read the log, the API, GET /generation, the CSV, the CLI's list and the page of a request
 * read this table, and their types derive from it.
 *
 * A number is a place in the list that it belongs to: in the settlement, in the type `booked_generation`, in the answer of GET /generation,
 * in the CSV, in the CLI's list, on the page. A new field takes the next one, so that positional readers stay correct; on the wire it is
 * `rare`, which an older reader ignores. The API has the fields in the order of this table. A test compares the columns with the database,
 * and checks that no place is empty or taken twice.
 *
 * A request's page and the Console's lists show some fields in forms of their own, which are defined there. How a charge came about is not
 * a field: detail.ts computes it.
 */
import { Type, type Static, type TObject, type TProperties, type TSchema } from "@sinclair/typebox";
import { monthOf } from "../kernel/clock.ts";
import { isMemberCaller } from "../kernel/ids.ts";
import { formatUsd, usdAsJsonNumber, type NanoUsd } from "../kernel/money.ts";
import {
  Amount,
  at,
  Claim,
  Count,
  Endpoint,
  endpointView,
  field,
  flag,
  inPrices,
  integer,
  integerOrNull,
  inUsage,
  isSet,
  itself,
  kept,
  rare,
  RouteAttempt,
  Routing,
  shown,
  storable,
  storableOrNone,
  stored,
  text,
  textOrNull,
  TextOrNull,
  timeView,
  Time,
  tokens,
  tokensOrNone,
  usd,
  type AnyField,
  type Shown,
  type Whole,
} from "./field-parts.ts";

export const generationFields = {
  generation: field({
    wire: at(0, Type.String({ pattern: "^gen-[a-z2-7]{26}$" })),
    column: kept(0, "generation_id", "generation"),
    view: text("generation_id", "The value of the answer's `X-Generation-Id` header"),
    answer: [0, text("id", "The id, as in the answer's `X-Generation-Id`")],
    csv: 1,
    cli: 9,
  }),
  request: field({
    wire: at(1, Type.String()),
    column: kept(17, "request_id", "request"),
    view: text("request_id", "The value of the answer's `X-Request-Id` header"),
    csv: 2,
  }),
  workspace: field({
    wire: at(2, Type.String()),
    column: kept(18, "workspace_id", "workspace"),
    view: text("workspace_id", "The workspace whose credit paid"),
  }),
  /** The id of the key, or of the member as the caller of the Workbench. */
  key: field({
    wire: at(3, Type.String()),
    column: kept(19, "key_id", "key"),
    view: textOrNull("key_id", "The key of the request; null: a member sent it from the Workbench", (key: string) =>
      isMemberCaller(key) ? null : key,
    ),
    csv: 3,
    page: [1, "Key"],
  }),
  keyName: field({
    view: textOrNull("key_name", "The key's present name; null: no key", (_: undefined, { caller }) => caller?.keyName ?? null),
    csv: 4,
  }),
  member: field({
    view: textOrNull(
      "member",
      "E-mail address of the member who sent it from the Workbench, or who owns the key; null: the key is unknown",
      (_: undefined, { caller }) => caller?.email ?? null,
    ),
    csv: 5,
    cli: 8,
    page: [2, "Member"],
  }),
  /** Absent: chat completions. */
  endpoint: field({
    wire: rare(26, Endpoint),
    column: kept(26, "endpoint"),
    view: endpointView("The endpoint of the request; `chat` also if the gateway died and it is not known"),
    answer: [3, endpointView("The endpoint of the request")],
    csv: 6,
    page: [3, "Endpoint"],
  }),
  model: field({
    wire: at(8, Type.String()),
    column: kept(20, "model"),
    view: text("model", "The model that answered or was called last; without a call the requested model"),
    answer: [1, "model"],
    csv: 7,
    cli: 1,
    page: [4, "Model"],
  }),
  requestedModel: field({
    view: shown(
      "requested_model",
      Type.Optional(Type.String({ description: "The requested model, where it is not `model`" })),
      (_: undefined, { routing }) => routing?.requested ?? undefined,
    ),
    csv: 25,
    page: [5, "Model asked for"],
  }),
  provider: field({
    wire: at(9, Type.String()),
    column: kept(21, "provider"),
    view: text("provider", "The provider that was called last; `none`: no provider was called"),
    answer: [2, "provider_name"],
    csv: 8,
    page: [6, "Provider"],
  }),
  status: field({
    wire: at(20, Type.Integer({ minimum: 100, maximum: 599 })),
    column: kept(11, "status"),
    view: integer("status", "The HTTP status of the answer; 499: the client disconnected"),
    answer: [6, "status"],
    csv: 9,
    cli: 2,
  }),
  cancelled: field({
    answer: [
      8,
      flag("cancelled", "Whether the client disconnected before the end", (_: undefined, { status }) => status === 499),
    ],
  }),
  code: field({
    wire: at(21, TextOrNull),
    column: kept(22, "code"),
    view: textOrNull("code", "The code of the error; null: no error", (code: string | null) => code),
    answer: [7, "code"],
    csv: 10,
    cli: 3,
    page: [7, "Error"],
  }),
  /** Without what it repeats of the request. Absent: no error. */
  message: field({
    wire: rare(32, Type.String()),
    column: kept(34, "message"),
    view: textOrNull("message", "What the answer said of the error; null: no error", (message: string | null) => message),
    csv: 27,
  }),
  streamed: field({
    wire: at(22, Type.Boolean()),
    column: kept(13, "streamed"),
    view: flag("streamed", "Whether a stream was requested", itself),
    answer: [4, "streamed"],
    csv: 11,
  }),
  promptTokens: field({
    wire: inUsage(14),
    column: stored(6, "prompt_tokens", storable),
    view: tokens("prompt_tokens", "Tokens of the request"),
    answer: [9, "tokens_prompt"],
    csv: 12,
    cli: 5,
    page: [9, "Tokens in"],
  }),
  cachedTokens: field({
    wire: inUsage(15),
    column: stored(7, "cached_tokens", storable),
    view: tokens("cached_tokens", "The part of the request's tokens that was read from the provider's cache"),
    answer: [11, "native_tokens_cached"],
    csv: 13,
  }),
  cacheWriteTokens: field({
    wire: inUsage(16),
    column: stored(24, "cache_write_tokens", storableOrNone),
    view: tokensOrNone("cache_write_tokens", "The part of the request's tokens that was written to the provider's cache"),
    answer: [12, "native_tokens_cache_write"],
    csv: 14,
  }),
  completionTokens: field({
    wire: inUsage(17),
    column: stored(8, "completion_tokens", storable),
    view: tokens("completion_tokens", "Tokens of the answer"),
    answer: [10, "tokens_completion"],
    csv: 15,
    cli: 6,
    page: [10, "Tokens out"],
  }),
  reasoningTokens: field({
    wire: inUsage(18),
    column: stored(25, "reasoning_tokens", storableOrNone),
    view: tokensOrNone("reasoning_tokens", "The part of the answer's tokens that was spent on reasoning"),
    answer: [13, "native_tokens_reasoning"],
    csv: 16,
  }),
  /** The bound of the tier that has these prices. Absent: no tier. */
  tierAboveTokens: field({
    wire: rare(25, Count),
    column: stored(30, "tier_above_tokens", (bound: number | undefined) => storableOrNone(bound ?? 0)),
    view: integerOrNull("tier_above_tokens", "The price tier's bound in tokens; null: the base price"),
    csv: 22,
  }),
  reserved: field({
    wire: at(6, Amount),
    column: kept(2, "reserved_nano", "reserved"),
    view: usd("reserved_usd", "The amount reserved before the call, in USD with nine decimals"),
    csv: 23,
  }),
  cost: field({
    column: stored(3, "cost_nano", (_: undefined, { cost }) => cost, "cost"),
    view: usd("cost_usd", "The amount charged, in USD with nine decimals"),
    answer: [15, shown("total_cost", Type.Number({ description: "The amount charged, in USD" }), usdAsJsonNumber)],
    csv: 17,
    cli: 4,
  }),
  /** The workspace's own key that served, with what the call would have cost in nano-USD: the provider bills it. Absent: the service's. */
  ownKey: field({
    wire: rare(28, Type.Object({ id: Type.String(), listCost: Amount })),
    column: stored(28, "own_key_id", (own: { id: string } | undefined) => own?.id ?? null, "own_key"),
    view: flag("own_key", "Whether the workspace's own provider key served, which its provider bills", isSet),
    answer: [16, "is_byok"],
    csv: 18,
  }),
  listCost: field({
    column: stored(29, "list_cost_nano", (_: undefined, { settlement }) => settlement.ownKey?.listCost ?? null, "list_cost"),
    view: textOrNull(
      "list_cost_usd",
      "What a call with an own key would have cost at list prices, in USD with nine decimals; null: no own key",
      (cost: NanoUsd | null) => (cost === null ? null : formatUsd(cost)),
    ),
    csv: 19,
  }),
  usageEstimated: field({
    wire: at(19, Type.Boolean()),
    column: kept(14, "usage_estimated"),
    view: flag("usage_estimated", "Whether the gateway counted the tokens, because the provider did not report them", itself),
    answer: [14, "usage_estimated"],
    csv: 24,
  }),
  /** The time of admission in milliseconds of the counters' clock. */
  admittedAt: field({
    wire: at(7, Time),
    column: kept(5, "admitted_at", "admitted_ms"),
    view: timeView("at", "When the request was accepted, ISO 8601 in UTC"),
    answer: [5, "created_at"],
    csv: 0,
    cli: 0,
    page: [0, "Accepted"],
  }),
  firstTokenMs: field({
    wire: at(23, Type.Union([Count, Type.Null()])),
    column: kept(9, "first_token_ms"),
    view: integerOrNull(
      "first_token_ms",
      "From acceptance to the first text of the answer, in milliseconds; null: the answer had no text",
    ),
    answer: [
      17,
      integerOrNull("latency", "Milliseconds from acceptance to the first text of the answer; null: the answer had no text"),
    ],
    csv: 20,
  }),
  generationMs: field({
    answer: [
      18,
      shown(
        "generation_time",
        Type.Union([Type.Integer(), Type.Null()], {
          description: "Milliseconds from the first text to the end; null: the answer had no text",
        }),
        (_: undefined, { firstTokenMs, durationMs }) => (firstTokenMs === null ? null : durationMs - firstTokenMs),
      ),
    ],
  }),
  durationMs: field({
    wire: at(24, Count),
    column: kept(10, "duration_ms"),
    view: integer("duration_ms", "From acceptance to the end, in milliseconds"),
    csv: 21,
    cli: 7,
  }),
  /** Absent: the workspace has routing off. */
  routing: field({
    wire: rare(27, Routing),
    column: stored(27, "attempts", (routing: Routing | undefined) => (routing ? JSON.stringify(routing) : null)),
    view: shown(
      "attempts",
      Type.Optional(Type.Array(RouteAttempt, { description: "The calls of providers, in order. Only with routing on" })),
      (routing: Routing | null) => routing?.attempts,
    ),
  }),

  /** The generation whose answer was sent again under its idempotency key. Absent: a provider was asked. */
  replayedFrom: field({
    wire: rare(31, Type.String()),
    column: kept(33, "replayed_from"),
    view: textOrNull("replayed_from", "The generation whose answer was sent again; else null", (first: string | null) => first),
    answer: [19, "replayed_from"],
    csv: 26,
    page: [11, "Answer of"],
  }),

  // Fields that the log keeps but does not list.
  /**
   * settled: the answer ended, with or without an error. unknown: its gateway died before it sent the request. expired: its hold
   * outlived every stream. unknown and expired are charged 0 and raise an alarm.
   */
  outcome: field({
    wire: at(5, Type.Union([Type.Literal("settled"), Type.Literal("unknown"), Type.Literal("expired")])),
    column: kept(16, "outcome"),
    page: [8, "Ending"],
  }),
  /** The month in whose totals it counts. The column has it only if it is not the month of admission. */
  month: field({
    wire: at(4, Type.String({ pattern: "^\\d{4}-\\d{2}$" })),
    column: stored(23, "month", (month: string, { settlement }) => (month === monthOf(settlement.admittedAt) ? null : month)),
  }),
  entry: field({ column: stored(1, "entry", (_: undefined, { entry }) => entry) }),
  excess: field({ column: stored(4, "excess_nano", (_: undefined, { excess }) => excess, "excess") }),
  late: field({ column: stored(12, "late", (_: undefined, { late }) => late) }),
  costPico: field({ column: stored(15, "cost_pico", (_: undefined, { costPico }) => costPico) }),

  // Pico-USD per token, from the route that served and the tier that the prompt reached. Only the settlement has them.
  input: field({ wire: inPrices(10) }),
  output: field({ wire: inPrices(11) }),
  cacheRead: field({ wire: inPrices(12) }),
  cacheWrite: field({ wire: inPrices(13) }),
  /** The block that it was admitted with, whose gateway releases it. Absent: it has its own hold. */
  block: field({ wire: rare(29, Type.String()) }),
  /** Recognises a repetition of its request. Absent: it had no idempotency key. The columns have it only where something was left. */
  claim: field({
    wire: rare(30, Claim),
    column: stored(31, "claim", (_: Claim | undefined, { claim }) => claim?.id ?? null),
  }),
  claimBody: field({ column: stored(32, "claim_body", (_: undefined, { claim }) => claim?.body ?? null) }),
};

type Table = typeof generationFields;
type Name = keyof Table;
type With<Part extends string> = { [K in Name]: Table[K] extends Record<Part, unknown> ? K : never }[Name];

/** The part of a settlement's schema that is in a group; null: in none. */
type Wired<Group> = {
  [K in With<"wire"> as Table[K]["wire"]["group"] extends Group ? K : never]: Table[K]["wire"]["schema"];
};
export type SettlementSchema = TObject<Wired<null> & { prices: TObject<Wired<"prices">>; usage: TObject<Wired<"usage">> }>;

/** An ended generation as read from the log: the columns that something shows. */
export type GenerationRow = { [K in With<"view"> & With<"column">]: Parameters<Table[K]["view"]["of"]>[0] };

type ViewName<K extends Name> = Table[K] extends { view: Shown<infer Name, never, TSchema> } ? Name : never;
type ViewSchema<K extends Name> = Table[K] extends { view: { schema: infer Schema extends TSchema } } ? Schema : never;
type Answer<K extends Name> = Table[K] extends { answer: readonly [number, infer Answer] } ? Answer : never;
type AnswerName<K extends Name> =
  Answer<K> extends string ? Answer<K> : Answer<K> extends Shown<infer Name, never, TSchema> ? Name : never;
type AnswerSchema<K extends Name> = Answer<K> extends { schema: infer Schema extends TSchema } ? Schema : ViewSchema<K>;

type ViewProperties = { [K in With<"view"> as ViewName<K>]: ViewSchema<K> };
type AnswerProperties = { [K in With<"answer"> as AnswerName<K>]: AnswerSchema<K> };
export type PageName = With<"page">;

/** In the order of their places. */
export const wireFields = inPlaces(({ wire }, field) => wire && { ...wire, path: pathOf(field, wire) });
export const columnFields = inPlaces(
  ({ wire, column }, field) => column && { ...column, path: wire ? pathOf(field, wire) : null },
);
export const pageFields = inPlaces(({ page, view }) => page && { place: page[0], label: page[1], view: view?.name ?? null });
export const csvColumns = namesIn<ViewName<With<"csv">>>(({ csv }) => csv);
export const cliColumns = namesIn<ViewName<With<"cli">>>(({ cli }) => cli);
/** The columns that the log is read by. */
export const readFields = parts(({ column, view }) => view && column);

/** The log of the control API. */
export const logFields = surface<ViewProperties>(parts(({ view }) => view));
/** The answer of GET /generation. */
export const answerFields = surface<AnswerProperties>(
  inPlaces(({ view, answer: [place, given] = [0, undefined] }) => {
    const shown = typeof given === "string" ? view && { ...view, name: given } : given;
    return shown && { place, ...shown };
  }),
);

/** How one answer shows the fields. */
interface Surface<Properties extends TProperties> {
  schema: TObject<Properties>;
  of(row: GenerationRow & Pick<Whole, "caller">): Static<TObject<Properties>>;
}

/** @param fields those that `Properties` derives from, with its names and schemas; `field` has checked their parts */
function surface<Properties extends TProperties>(fields: (Shown<string, never, TSchema> & Named)[]): Surface<Properties> {
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]));
  return {
    schema: Type.Object(properties as Properties),
    of(row) {
      const values: Record<string, unknown> = row;
      const view: Record<string, unknown> = {};
      for (const { field, name, of } of fields) {
        const value = of(values[field] as never, row);
        if (value !== undefined) view[name] = value;
      }
      return view as Static<TObject<Properties>>;
    },
  };
}

/** @returns the API's names of the fields that have this place, from which `Name` derives */
function namesIn<Name extends string>(placeIn: (field: AnyField) => number | undefined): readonly Name[] {
  const listed = inPlaces((field) => {
    const place = placeIn(field);
    return field.view && place !== undefined ? { place, name: field.view.name } : undefined;
  });
  return listed.map(({ name }) => name as Name);
}

interface Named {
  /** Its name in this table, in a settlement and in a row. */
  field: string;
}

/** The path of a field in a settlement. */
function pathOf(field: string, { group }: NonNullable<AnyField["wire"]>): string {
  return group === null ? `settlement.${field}` : `settlement.${group}.${field}`;
}

type PartOf<Part> = (all: AnyField, field: string) => Part | undefined;

function inPlaces<Part extends { place: number }>(partOf: PartOf<Part>): (Part & Named)[] {
  return parts(partOf).toSorted((a, b) => a.place - b.place);
}

function parts<Part extends object>(partOf: PartOf<Part>): (Part & Named)[] {
  return Object.entries<AnyField>(generationFields).flatMap(([field, all]) => {
    const part = partOf(all, field);
    return part ? [{ ...part, field }] : [];
  });
}
