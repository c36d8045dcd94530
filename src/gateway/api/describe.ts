/**
 * What a key may read about itself: GET /key, its credit and limits; GET /usage, what it used; GET /generation, the outcome of one of its
 * requests. The last two are additions to the format, for clients that lost an answer or its usage, or that watch their spend. A key sees
 * its own requests alone. GET /key succeeds without its last three fields while billing does not answer, because a client asks it to learn
 * whether the key works. The other two have nothing to report then, and fail.
 */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import { requestsPerMinuteDefault } from "../../accounts/limits.ts";
import { requestTarget } from "../../http/router.ts";
import { asSent, GatewayError } from "../../kernel/errors.ts";
import { jsonResponse } from "../../kernel/json.ts";
import { formatUsd, usdAsJsonNumber } from "../../kernel/money.ts";
import { answerFields, type GenerationRow } from "../generation-fields.ts";
import { UsageFields } from "../usage/periods.ts";
import { authenticate } from "./authenticate.ts";
import type { Caller } from "../admission/message.ts";
import type { Gateway } from "./gateway.ts";
import { asCaller } from "./refused.ts";

const KeyDescription = Type.Object({
  name: Type.String({ description: "The key's label" }),
  prefix: Type.String({ description: "The visible start of the key: its prefix and eight characters" }),
  scopes: Type.Array(Type.Literal("inference"), { description: "The APIs that the key opens" }),
  monthly_spend_limit_usd: Type.Union([Type.String(), Type.Null()], {
    description: "The most that the key may spend in a calendar month (UTC), in USD as a decimal number; null: no limit",
  }),
  daily_spend_limit_usd: Type.Optional(
    Type.String({
      description: "The most that the key may spend in a day (UTC), in USD as a decimal number; absent: no limit. An addition",
    }),
  ),
  rate_limit_rpm: Type.Union([Type.Integer(), Type.Null()], {
    description: `Requests in any 60 seconds; null: the default of ${requestsPerMinuteDefault}`,
  }),
  available_credit_usd: Type.Optional(
    Type.Number({ description: "The workspace's credit minus the reservations of requests in flight, in USD" }),
  ),
  month_spent_usd: Type.Optional(Type.Number({ description: "The key's spend in the current month, in USD" })),
  month: Type.Optional(Type.String({ pattern: "^\\d{4}-\\d{2}$", description: "The current month in UTC, as YYYY-MM" })),
});

export const KeyBody = Type.Object({
  data: Type.Object(KeyDescription.properties, { description: "The calling key" }),
});

/** GET /key. Leaves the last three fields out when billing does not answer; the request still succeeds. */
export async function describeKey(request: Request, gateway: Gateway): Promise<Response> {
  const { record } = await authenticate(request, gateway);
  const position = await gateway.admission.position(record.workspace, record.id);
  const money = position && {
    available_credit_usd: usdAsJsonNumber(position.available),
    month_spent_usd: usdAsJsonNumber(position.keySpent ?? 0n),
    month: position.month,
  };
  const data: Static<typeof KeyDescription> = {
    name: record.name,
    prefix: record.start,
    scopes: ["inference"],
    monthly_spend_limit_usd: record.monthlyLimit === null ? null : shortUsd(BigInt(record.monthlyLimit)),
    ...(record.dailyLimit !== undefined && { daily_spend_limit_usd: shortUsd(BigInt(record.dailyLimit)) }),
    rate_limit_rpm: record.requestsPerMinute,
    ...money,
  };
  return jsonResponse({ data }, { headers: { "cache-control": "no-store" } });
}

/**
 * GET /usage: what the calling key used.
 * @throws GatewayError invalid_request, and billing_unavailable while the sums cannot be read
 */
export async function describeUsage(request: Request, gateway: Gateway): Promise<Response> {
  const caller = await authenticate(request, gateway);
  return asCaller(caller, () => usageOf(caller, requestTarget(request).query, gateway));
}

async function usageOf({ record }: Caller, query: URLSearchParams, gateway: Gateway): Promise<Response> {
  const fields = readUsageFields(query);
  try {
    const usage = await gateway.usage({ workspace: record.workspace, key: record.id, fields });
    return jsonResponse(usage, { headers: { "cache-control": "no-store" } });
  } catch (error) {
    if (error instanceof DomainError && error.field !== null)
      throw new GatewayError("invalid_request", { message: error.message, param: error.field });
    throw new GatewayError("billing_unavailable", {
      message: "Usage cannot be summed at present; try again shortly",
      cause: error,
    });
  }
}

/** Limits have at most two decimals: `25` is `25.00`. */
function shortUsd(nano: bigint): string {
  return formatUsd(nano).slice(0, -7);
}

/** @throws GatewayError invalid_request for another parameter, or one that is given twice or too long */
function readUsageFields(query: URLSearchParams): UsageFields {
  const fields = new Map<string, string>();
  for (const [param, value] of query) {
    const schema = Object.entries(UsageFields.properties).find(([name]) => name === param)?.[1];
    const refuse = (message: string) => new GatewayError("invalid_request", { message, param: asSent(param) });
    if (!schema)
      throw refuse(`There is no parameter "${asSent(param)}": ${Object.keys(UsageFields.properties).join(", ")} are possible`);
    if (fields.has(param)) throw refuse(`The parameter "${param}" is given twice`);
    if (value.length > (schema.maxLength ?? 0)) throw refuse(`The parameter "${param}" is too long`);
    fields.set(param, value);
  }
  return Object.fromEntries(fields);
}

// GET /generation

export const GenerationBody = Type.Object({
  data: Type.Object(answerFields.schema.properties, { description: "The ended generation" }),
});

/**
 * GET /generation: the outcome of one request of the calling key.
 * @throws GatewayError invalid_request, and billing_unavailable while the log cannot be read
 */
export async function describeGeneration(request: Request, gateway: Gateway): Promise<Response> {
  const caller = await authenticate(request, gateway);
  return asCaller(caller, () => generationOf(caller, requestTarget(request).query, gateway));
}

async function generationOf({ record }: Caller, query: URLSearchParams, gateway: Gateway): Promise<Response> {
  const generation = readId(query);
  const row = /^gen-[a-z2-7]{26}$/.test(generation) ? await readGeneration({ key: record.id, generation }, gateway) : null;
  const headers = { "cache-control": "no-store" };
  if (row === null) return jsonResponse({ detail: "Not Found" }, { status: 404, headers });
  return jsonResponse({ data: answerFields.of(row) }, { headers });
}

function readId(query: URLSearchParams): string {
  const refuse = (param: string, message: string) => new GatewayError("invalid_request", { message, param });
  for (const param of query.keys())
    if (param !== "id") throw refuse(asSent(param), `There is no parameter "${asSent(param)}": id is possible`);
  const [id, second] = query.getAll("id");
  if (id === undefined) throw refuse("id", 'The parameter "id" is missing: it takes the value of X-Generation-Id');
  if (second !== undefined) throw refuse("id", 'The parameter "id" is given twice');
  return id;
}

async function readGeneration(asked: { key: string; generation: string }, gateway: Gateway): Promise<GenerationRow | null> {
  try {
    return await gateway.generation(asked);
  } catch (error) {
    const message = "The log cannot be read at present; try again shortly";
    throw new GatewayError("billing_unavailable", { message, cause: error });
  }
}
