/** The event that ends a generation, from the gateway's spool over the bus into the ledger. Amounts and prices are decimal strings. */
import { Type, type Static } from "@sinclair/typebox";

export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Up to the last millisecond that a Date can hold. */
const Time = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 });
export const Amount = Type.String({ pattern: "^\\d{1,19}$" });

/** An endpoint beside chat completions. */
const Endpoint = Type.Union([Type.Literal("completions"), Type.Literal("embeddings")]);
export type Endpoint = Static<typeof Endpoint>;

/** A call of a provider for a routed request. */
export const RouteAttempt = Type.Object({
  provider: Type.String({ description: "The provider that was called" }),
  model: Type.String({ description: "The model that was called" }),
  own_key: Type.Boolean({ description: "Whether the workspace's own provider key was used" }),
  code: Type.Union([Type.String(), Type.Null()], { description: "The code of the failure; null: it answered" }),
  ms: Type.Integer({ ...Count, description: "From the call to its failure or to the end of its answer, in milliseconds" }),
});
export type RouteAttempt = Static<typeof RouteAttempt>;

export const Settlement = Type.Object({
  generation: Type.String({ pattern: "^gen-[a-z2-7]{26}$" }),
  request: Type.String(),
  workspace: Type.String(),
  key: Type.String(),
  month: Type.String({ pattern: "^\\d{4}-\\d{2}$" }),
  /**
   * settled: the answer ended, with or without an error. unknown: its gateway died before it sent the request. expired: its hold
   * outlived every stream. unknown and expired are charged 0 and raise an alarm.
   */
  outcome: Type.Union([Type.Literal("settled"), Type.Literal("unknown"), Type.Literal("expired")]),
  reserved: Amount,
  /** Time of admission in milliseconds of the counters' clock. */
  admittedAt: Time,
  model: Type.String(),
  provider: Type.String(),
  /** Pico-USD per token, from the route that served and the tier that the prompt reached. */
  prices: Type.Object({ input: Amount, output: Amount, cacheRead: Amount, cacheWrite: Amount }),
  /** The bound of that tier. Absent: no tier, or an older version wrote the settlement. */
  tierAboveTokens: Type.Optional(Count),
  /** The workspace's own key that served, with what the call would have cost in nano-USD: the provider bills it. Absent: the service's. */
  ownKey: Type.Optional(Type.Object({ id: Type.String(), listCost: Amount })),
  usage: Type.Object({
    promptTokens: Count,
    cachedTokens: Count,
    cacheWriteTokens: Count,
    completionTokens: Count,
    reasoningTokens: Count,
  }),
  usageEstimated: Type.Boolean(),
  status: Type.Integer({ minimum: 100, maximum: 599 }),
  code: Type.Union([Type.String(), Type.Null()]),
  streamed: Type.Boolean(),
  firstTokenMs: Type.Union([Count, Type.Null()]),
  durationMs: Count,
  /** The block that it was admitted with, whose gateway releases it. Absent: it has a hold of its own. */
  block: Type.Optional(Type.String()),
  /** Absent: chat completions, or an older version wrote the settlement. */
  endpoint: Type.Optional(Endpoint),
  /** Absent: the workspace has routing off, or an older version wrote it. */
  routing: Type.Optional(
    Type.Object({
      /** The request's `model`, if another one served or was tried last; null: it is `model`. */
      requested: Type.Union([Type.String(), Type.Null()]),
      attempts: Type.Array(RouteAttempt),
    }),
  ),
});
export type Settlement = Static<typeof Settlement>;
