/**
 * The service with a provider stub behind `stub/model` that all tests of bad input share. The first file that needs it starts it, and
 * the end of the test process stops it.
 */
import { expect } from "bun:test";
import { errorTable, type ErrorCode } from "../../../../../src/kernel/errors.ts";
import type { DialectEntry } from "../../../../../src/gateway/models/dialect.ts";
import { supportWords } from "../../../../../src/gateway/api/request/requested-model.ts";
import { atEnd } from "../../../../support/processes/at-end.ts";
import { expectExactBalance, expectSoundLedger } from "../../../../support/gateway/exact-ledger.ts";
import { Fleet } from "../../../../support/servers/fleet.ts";
import type { Customer, LogRow } from "../../../../support/operator.ts";
import { startProviderStub, type ProviderStub } from "../../../../support/providers/provider-stub.ts";
import { stubKeyEnv, writeStubCatalog } from "../../../../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";

/** A request's body must arrive within this time. */
export const bodyMs = 1_000;
/** The stub takes every message as it comes. */
const seen = { source: "https://example.com", seen: "2026-11-28" };
const asOpenai: DialectEntry = {
  developer_role: { value: true, ...seen },
  instructions: { value: "anywhere", ...seen },
  refusals: { value: true, ...seen },
};
/** Each customer's credit in USD. */
const credit = "10";

export interface Stage {
  fleet: Fleet;
  stub: ProviderStub;
  /** Makes a client with a workspace of its own. */
  customer(): Promise<Client>;
  /** A client whose requests are all refused. */
  refused: Client;
}

interface Client extends Customer {
  key: string;
}

let opened: Promise<Stage> | null = null;
let openedApart: Promise<Stage> | null = null;

export function stage(): Promise<Stage> {
  return (opened ??= openStage({ inTest: true }));
}

/** In a process of its own, which hostile input may not end or fill. */
export function stageApart(): Promise<Stage> {
  return (openedApart ??= openStage({}));
}

async function openStage(place: { inTest?: true }): Promise<Stage> {
  const stack = new AsyncDisposableStack();
  atEnd(() => stack.disposeAsync());
  const stub = stack.use(await startProviderStub());
  const folder = stack.use(await temporaryFolder());
  const supports = Object.keys(supportWords);
  const catalogDir = await writeStubCatalog(folder.path, { url: stub.url, provider: { dialect: asOpenai }, model: { supports } });
  const environment = { [stubKeyEnv]: "sk-of-the-stub", BODY_TIMEOUT_MS: String(bodyMs) };
  const fleet = stack.use(await Fleet.start({ services: null, ...place, catalogDir, environment }));
  await fleet.runnable("stub/model");
  const customer = async (): Promise<Client> => {
    const made = await fleet.operator().customer({ credit });
    return { ...made, key: made.keys[0]?.key ?? "" };
  };
  return { fleet, stub, customer, refused: await customer() };
}

export interface Refusal {
  code: ErrorCode;
  param?: string | null;
  /** A part of the message. */
  message?: string;
}

/** For the end of a file: what it did left a sound ledger, and of what was refused nothing is logged, held or charged. */
export async function expectSound(on: Stage): Promise<void> {
  await expectExactBalance(on.fleet.operator(), on.refused, { credit, generations: 0 });
  await expectSoundLedger(on.fleet.operator());
}

/** Expects a refusal without a trace: no ids and no call of a provider; `expectSound` proves the rest, which would stay. */
export async function expectRefused(on: Stage, send: (key: string) => Promise<Response>, refusal: Refusal): Promise<Response> {
  const calls = on.stub.calls.length;
  const response = await send(on.refused.key);
  const { code, param = null, message = "" } = refusal;
  const body: unknown = await response.json();
  expect(body).toEqual({
    error: { message: expect.stringContaining(message), type: errorTable[code].type, code, param },
  });
  expect(response.status).toBe(errorTable[code].status);
  expect(response.headers.has("x-generation-id") || response.headers.has("x-request-id")).toBe(false);
  expect(on.stub.calls).toHaveLength(calls);
  return response;
}

/** The customer's only generation, once it is settled. */
export async function settledAlone(on: Stage, customer: Customer, costNano?: bigint): Promise<LogRow> {
  const [row] = await expectExactBalance(on.fleet.operator(), customer, {
    credit,
    generations: 1,
    ...(costNano !== undefined && { costNano }),
  });
  if (row === undefined) throw new Error("There is no generation");
  return row;
}

export type Body = string | Uint8Array<ArrayBuffer>;

/** Sends a chat request with this body. */
export function post(on: Stage, key: string, body: Body, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${on.fleet.url()}/gpt/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body,
  });
}
