/** Sends the corpus over bare sockets: each attack gets the promised answer, and only the honest requests among them are charged. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { RawClient } from "../support/servers/raw-client.ts";
import { until } from "../support/until.ts";
import { expectExactLedger } from "../support/gateway/exact-ledger.ts";
import { bodyMs, stageApart, type Stage } from "../gateway/api/request/bad-input/stage.ts";
import { hidden, keyMark, type Attack } from "./corpus/attack.ts";
import { chunks } from "./corpus/chunks.ts";
import { lateBodies } from "./corpus/late-bodies.ts";
import { codings, lengths } from "./corpus/lengths.ts";
import { lines } from "./corpus/lines.ts";
import { methods, targets, versions } from "./corpus/targets.ts";

/** The cost of "Hello" by `sandbox/echo`: two input and two output tokens. */
const helloNano = 6_000n;

const corpus: Record<string, Attack[]> = {
  "lengths of bodies": lengths,
  "transfer codings": codings,
  chunks,
  "header lines": lines,
  versions,
  methods,
  targets,
  "bodies after their answer": lateBodies,
};

/** The runtime allows 10 s for a head and checks every few seconds. Bytes that arrive meanwhile do not extend this. */
const headMsMax = 15_000;
const slowClients = 50;

let on: Stage;
const slow: RawClient[] = [];
let slowFrom = 0;
/** When the last of them was closed, which earlier tests may outlast. */
let slowUntil = 0;
let customer: Awaited<ReturnType<Stage["customer"]>>;
const expected = { charged: 0, abandoned: 0 };
beforeAll(async () => {
  on = await stageApart();
  customer = await on.customer();
  slowFrom = performance.now();
  for (let n = 0; n < slowClients; n++) slow.push(trickle(on.fleet.gateways[0]?.port ?? 0));
}, 60_000);

afterAll(async () => {
  await expectExactLedger(on.fleet.operator(), customer, {
    credit: "10",
    generations: expected.charged + expected.abandoned,
    costNano: BigInt(expected.charged) * helloNano,
  });
  expect(on.fleet.gateways[0]?.process.running).toBe(true);
  expect(on.fleet.gateways[0]?.process.output).not.toContain("internal_error");
}, 30_000);

/** Sends a head that never ends, one byte every half second. */
function trickle(port: number): RawClient {
  const client = new RawClient(port).send("GET /health HTTP/1.1", "X-Slow: ");
  const timer = setInterval(() => client.send("a"), 500);
  void client.answer().finally(() => {
    clearInterval(timer);
    slowUntil = performance.now();
  });
  return client;
}

/** The statuses of all received answers, in order. */
function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** Whether the last answer, if there is one, is complete. Bodies here are JSON or a word, with Content-Length. */
function endedIn(text: string): boolean {
  const [, length = "0"] = /content-length: (\d+)/i.exec(text) ?? [];
  const end = text.lastIndexOf("\r\n\r\n");
  return text === "" || (end !== -1 && text.length >= end + 4 + Number(length));
}

/** @returns everything until the server closed the connection; asks it to close where it would not by itself */
async function play({ sends, answers, closes }: Attack): Promise<string> {
  using client = new RawClient(on.fleet.gateways[0]?.port ?? 0);
  const has = (count: number) => until(() => statusesIn(client.text).length >= count && endedIn(client.text), 2 * bodyMs + 7_000);
  for (const [index, text] of sends.entries()) {
    await has(index);
    client.send(text.replaceAll(keyMark, customer.key));
  }
  if (closes) return await client.answer();
  await has(answers.length);
  client.send(hidden.replace(keyMark, customer.key).replace(/\r\n$/, "Connection: close\r\n\r\n"));
  return await client.answer();
}

describe.each(Object.entries(corpus))("%s", (_, attacks) => {
  test.each(attacks.map((attack) => [attack.name, attack] as const))("%s", async (_name, attack) => {
    const { answers, closes, charged = 0, abandoned = 0 } = attack;
    const text = await play(attack);
    expected.charged += charged;
    expected.abandoned += abandoned;
    expect(statusesIn(text)).toEqual(closes ? answers : [...answers, 200]);
    if (answers.length === 0) expect(text).toBe("");
    expect(text.toLowerCase()).not.toContain("\r\nx-evil");
  });
});

test(`the server closes ${slowClients} connections whose heads never end within ${headMsMax / 1_000} s`, async () => {
  await Promise.all(slow.map((client) => client.answer()));
  expect(slowUntil - slowFrom).toBeLessThan(headMsMax);
});
