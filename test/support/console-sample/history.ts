/** Three weeks of requests of a workspace, written before its service starts: no API sets a time. */
import { join } from "node:path";
import type { Database } from "../../../src/backing/backing.ts";
import { openEmbeddedPostgres } from "../../../src/backing/embedded/postgres.ts";
import { chargeOf } from "../../../src/gateway/metering/settle.ts";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { insertOwnKey } from "../../../src/gateway/own-keys/store.ts";
import { RefusedCalls, type RefusedCall } from "../../../src/gateway/refusals/refused-calls.ts";
import { newOwnKeyId } from "../../../src/kernel/ids.ts";
import { monthOf, systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { publishVendors } from "../../connectors/connections/vendors.ts";
import { Control } from "../control.ts";
import { book, settlement } from "../gateway/settlements.ts";
import { ManualClock } from "../clock.ts";
import { secretsKeyNamed } from "../secrets-key.ts";
import { copyEmbeddedDatabase } from "../servers/prepared-databases.ts";
import { payByCard } from "./top-ups.ts";

export const sampleName = "example";
export const addressOf = (role: string): string => `${role}@${sampleName}`;

export interface History {
  workspace: string;
  /** Ids, by what the keys are for. */
  keys: { production: string; nearItsLimit: string; revoked: string };
  /** Of a provider's own key. */
  ownKey: string;
  /** Of a refused request. */
  refused: string;
  /** Of a payment by card. */
  topUp: string;
  /** Of a connection whose people were read. */
  peopleOf: string;
}

/** No provider is there to test a key, so it is stored as if it had passed. No request of the sample is for its models. */
const unusedKey = {
  provider: "mistral",
  name: "Our account",
  lastFour: "k3m9",
  sealed: new Uint8Array(32),
  zeroDataRetention: true,
  checks: [],
};

const days = 21;
const requestsPerDay = 10;
const dayMs = 86_400_000;

interface SampleModel {
  model: string;
  provider: string;
  /** In USD per 1M tokens. */
  input: number;
  output: number;
}

const models: readonly SampleModel[] = [
  { model: "openai/gpt-5.4", provider: "openai", input: 2.5, output: 15 },
  { model: "anthropic/claude-opus-5", provider: "anthropic", input: 5, output: 25 },
  { model: "google/gemini-3.1-pro-preview", provider: "google", input: 2, output: 12 },
  { model: "sandbox/echo", provider: "sandbox", input: 1, output: 2 },
];

/** @param dataDir of the service, which does not run yet */
export async function writeHistory(dataDir: string): Promise<History> {
  const folder = join(dataDir, "postgres");
  await copyEmbeddedDatabase(folder);
  await using database = await openEmbeddedPostgres({ folder, clock: systemClock, log: silentLog });
  const control = new Control(database.sql, [secretsKeyNamed(sampleName)]);
  const nowMs = Date.now();
  const goTo = (atMs: number): void => control.clock.advance(atMs - control.clock.now());
  goTo(nowMs - days * dayMs);
  const workspace = await control.workspace(sampleName, "500");
  await control.expect("POST", "/members", { body: { workspace, email: addressOf("former"), role: "member" } });
  const invited = { workspace, email: addressOf("invited"), role: "auditor" };
  await control.expect("POST", "/members", { body: invited, as: addressOf("admin") });
  const key = async (name: string, owner: string) => (await control.key(sampleName, { name, owner: addressOf(owner) })).id;
  const production = await key("Production", "admin");
  const nearItsLimit = await key("Nightly evaluation", "member");
  const revoked = await key("Prototype", "member");
  const settlements = requests({ workspace, keys: [production, production, nearItsLimit, revoked], nowMs });
  for (const ofDay of Map.groupBy(settlements, ({ admittedAt }) => Math.floor(admittedAt / dayMs)).values())
    await book(database.sql, ...ofDay);
  goTo(nowMs - 2 * dayMs);
  const topUp = await payByCard({ workspace: sampleName, as: addressOf("admin") }, control, database.sql);
  goTo(nowMs - dayMs);
  await control.expect("POST", `/keys/${revoked}/revoke`, { body: {} });
  await control.expect("POST", `/members/${addressOf("former")}/deactivate`, { body: { workspace } });
  await limitNearly({ key: nearItsLimit, settlements, nowMs }, control);
  const ownKey = newOwnKeyId(nowMs - dayMs);
  await database.sql.begin((tx) => insertOwnKey({ ...unusedKey, id: ownKey, workspace, at: nowMs - dayMs }, tx));
  const refused = await refuseSome({ workspace, keys: [production, nearItsLimit], nowMs }, database.sql);
  const peopleOf = await readPeople(control, database.sql);
  return { workspace, keys: { production, nearItsLimit, revoked }, ownKey, refused, topUp, peopleOf };
}

const logins = ["ada", "بدر", "grace", `${"long-".repeat(38)}name`, "linus", "mira", "olga", "sam", "tim"];
const states = ["ACTIVE", "ACTIVE", "LOCKED_OUT", "SUSPENDED", "STAGED"];

/** The sample calls no vendor, so its people are read before it starts. @returns the id of their connection */
async function readPeople(control: Control, sql: Database): Promise<string> {
  const people = logins.map((name, index) => ({
    status: states[index % states.length],
    profile: { login: `${name}@${sampleName}` },
  }));
  const answer = { status: 200, headers: {}, body: Buffer.from(JSON.stringify(people)) };
  control.connectors.published = await publishVendors(sql);
  control.callVendors = () => Promise.resolve(answer);
  const [workspace, as] = [sampleName, addressOf("admin")];
  await control.expect("PATCH", `/workspaces/${workspace}`, { body: { early_access: ["people"] } });
  const credentials = { okta_domain: "contractors.okta.com", api_token: "a-token-of-the-sample" };
  const body = { workspace, connector: "okta", name: "Contractors", credentials };
  const { id } = (await control.expect("POST", "/connections", { body, as })) as { id: string };
  await control.expect("POST", `/connections/${id}/people`, { body: {}, as });
  return id;
}

/** One in twelve fails. The newest is a minute old. */
function requests({ workspace, keys, nowMs }: { workspace: string; keys: string[]; nowMs: number }): Settlement[] {
  return Array.from({ length: days * requestsPerDay }, (_, index) => {
    const age = (index * dayMs) / requestsPerDay + 60_000 * (1 + (index % 7) * 5);
    const model = models[(index * 7 + (index % 3)) % models.length] ?? models[0];
    if (!model) throw new Error("The sample has no models");
    const key = keys[index % keys.length] ?? "";
    const facts = index % 12 === 5 ? failed(index) : answered(index);
    const price = (usd: number): string => String(usd * 1_000_000);
    return settlement({
      workspace,
      key,
      admittedAt: nowMs - age,
      reserved: "2000000000",
      model: model.model,
      provider: model.provider,
      prices: {
        input: price(model.input),
        output: price(model.output),
        cacheRead: price(model.input),
        cacheWrite: price(model.input),
      },
      streamed: index % 3 !== 0,
      ...facts,
    });
  });
}

function answered(index: number): Partial<Settlement> {
  const usage = {
    promptTokens: 4_000 + ((index * 7_919) % 60_000),
    cachedTokens: 0,
    cacheWriteTokens: 0,
    completionTokens: 200 + ((index * 613) % 3_000),
    reasoningTokens: 0,
  };
  return { usage, firstTokenMs: 220 + ((index * 131) % 900), durationMs: 1_500 + ((index * 379) % 9_000) };
}

const failures = [
  [429, "upstream_rate_limited"],
  [502, "upstream_error"],
  [504, "upstream_timeout"],
] as const;

function failed(index: number): Partial<Settlement> {
  const [status, code] = failures[index % failures.length] ?? failures[0];
  const usage = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  return { usage, status, code, firstTokenMs: null, durationMs: 900 };
}

/** A limit that this month's spend of the key reaches to nine tenths, at least one cent; and one for the day. */
async function limitNearly(
  { key, settlements, nowMs }: { key: string; settlements: readonly Settlement[]; nowMs: number },
  control: Control,
): Promise<void> {
  const ofMonth = settlements.filter((one) => one.key === key && one.month === monthOf(nowMs));
  const spent = ofMonth.reduce((sum, one) => sum + chargeOf(one).cost, 0n);
  const cents = (spent * 10n) / 9n / 10_000_000n + 1n;
  const limit = `${cents / 100n}.${String(cents % 100n).padStart(2, "0")}`;
  await control.expect("PATCH", `/keys/${key}`, { body: { monthly_spend_limit_usd: limit, daily_spend_limit_usd: "5" } });
}

type Refusal = Pick<RefusedCall, "code" | "status" | "message"> & Partial<RefusedCall>;

const refusals: readonly Refusal[] = [
  {
    code: "rate_limited",
    status: 429,
    message: "Too many requests for this key: it may make 60 requests per minute",
    retryAfterMs: 2_400,
  },
  {
    code: "model_not_found",
    status: 404,
    message: "Did you mean openai/gpt-5.4? There is no model with the id …",
    param: "model",
  },
  {
    code: "key_spend_limit_exceeded",
    status: 402,
    message:
      "The request may cost up to 0.045 USD and 0.012 USD are left of this key's monthly spend limit, enough for max_tokens up to 800",
    model: "openai/gpt-5.4",
  },
  {
    code: "invalid_request",
    status: 400,
    message: "temperature must be a number from 0 to 2",
    param: "temperature",
    endpoint: "messages",
  },
];

/** A refused call each hour of the last ten. @returns the id of the newest */
async function refuseSome(
  { workspace, keys, nowMs }: { workspace: string; keys: string[]; nowMs: number },
  sql: Database,
): Promise<string> {
  const clock = new ManualClock(nowMs - 10 * 3_600_000);
  const calls = new RefusedCalls({ sql, clock, log: silentLog });
  for (let hour = 0; hour < 10; hour++) {
    const refusal = refusals[hour % refusals.length] ?? refusals[0];
    if (!refusal) throw new Error("The sample has no refusals");
    const none = { model: null, param: null, retryAfterMs: null, endpoint: "chat" as const };
    calls.note({ workspace, key: keys[hour % keys.length] ?? "", ...none, ...refusal });
    await calls.flushed(10_000);
    clock.advance(3_600_000);
  }
  const [newest] = await sql<{ id: string }[]>`SELECT id FROM refused_requests ORDER BY id DESC LIMIT 1`;
  return newest?.id ?? "";
}
