/**
 * Requests with idempotency keys: of a workspace that keeps their answers for a repetition, and of one with zero data retention, which asks
 * for that too and keeps none. Their texts and keys are found nowhere.
 */
import { expect } from "bun:test";
import type { Fleet } from "../servers/fleet.ts";
import { until } from "../until.ts";
import type { Traces } from "./traces.ts";

export interface KeptTraffic {
  keeping: Sent;
  retaining: Sent;
}

interface Sent {
  workspace: string;
  generations: string[];
  /** What the model said, and the client's key. */
  canaries: string[];
}

/** Each endpoint that completes a prompt, whole and streamed. */
export async function spreadKeptAnswers(fleet: Fleet): Promise<KeptTraffic> {
  return {
    keeping: await send(fleet, { idempotent_replay: true }),
    retaining: await send(fleet, { idempotent_replay: true, zero_data_retention: true }),
  };
}

async function send(fleet: Fleet, settings: { zero_data_retention?: true; idempotent_replay: true }): Promise<Sent> {
  const operator = fleet.operator();
  const { workspace, keys } = await operator.customer({ credit: "1" });
  await operator.call("PATCH", `/workspaces/${workspace}`, settings);
  const [said, order] = [`canary-kept-${crypto.randomUUID()}`, `canary-order-${crypto.randomUUID()}`];
  const messages = [{ role: "user", content: said }];
  const requests = [
    ["chat/completions", { messages }],
    ["messages", { messages, max_tokens: 100 }],
    ["responses", { input: said }],
  ] as const;
  const all = requests.flatMap(([path, fields]) => [false, true].map((stream) => ({ path, fields: { ...fields, stream } })));
  const ask = ({ path, fields }: (typeof all)[number]): Promise<Response> =>
    fetch(`${fleet.url()}/gpt/v1/${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${keys[0]?.key}`,
        "content-type": "application/json",
        "idempotency-key": `${order}-${String(fields.stream)}`,
      },
      body: JSON.stringify({ model: "sandbox/echo", ...fields }),
    });
  const generations: string[] = [];
  for (const one of all) {
    const response = await ask(one);
    expect([one.path, response.status]).toEqual([one.path, 200]);
    expect(textIn(await response.text())).toContain(said);
    generations.push(response.headers.get("x-generation-id") ?? "");
  }
  await until(async () => (await operator.show(workspace)).reserved_usd === "0.000000000");
  for (const one of all) {
    const again = await ask(one);
    const text = await again.text();
    expect([one.path, again.status]).toEqual([one.path, settings.zero_data_retention ? 409 : 200]);
    if (!settings.zero_data_retention) expect(textIn(text)).toContain(said);
  }
  return { workspace, generations, canaries: [said, order] };
}

/** The pieces of a stream joined. */
function textIn(body: string): string {
  const pieces = [...body.matchAll(/"(?:content|text|delta)":"((?:[^"\\]|\\.)*)"/g)].map(([, piece = ""]) => piece);
  return pieces.join("");
}

/** Kept answers are sealed, and none is kept where nothing is retained. */
export function expectKeptSealed(traces: Traces, { keeping, retaining }: KeptTraffic): void {
  for (const canary of [...keeping.canaries, ...retaining.canaries])
    expect([canary, traces.whereIs(canary)]).toEqual([canary, []]);
  for (const generation of keeping.generations) expect(traces.whereIs(generation)).toContain("table.kept_answers");
  expect(traces.whereIs(retaining.workspace)).toContain("table.generations");
  for (const table of ["table.kept_answers", "table.data_keys"]) expect(traces.whereIs(retaining.workspace)).not.toContain(table);
}
