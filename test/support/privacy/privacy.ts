/** The privacy promises, for one process and for a fleet. */
import { expect } from "bun:test";
import { newCanaries, type Canaries, type SentTraffic } from "./canaries.ts";
import { spreadCanaries } from "./spread-canaries.ts";
import type { Fleet } from "../servers/fleet.ts";
import type { OurProcess } from "../processes/process.ts";
import type { ProviderStub } from "../providers/provider-stub.ts";
import { chat, error } from "../providers/stub-answers.ts";
import { workbench } from "../gateway/workbench.ts";
import type { Traces } from "./traces.ts";
import { until } from "../until.ts";

/** Our key for the provider, which only the provider receives. */
export const providerKeyCanary = "sk-canary-of-our-own-account";

export interface Customer {
  workspace: string;
  /** All its API keys. */
  keys: string[];
  storage: boolean;
  canaries: Canaries;
  sent: SentTraffic;
}

/** A customer whose traffic contains canaries everywhere, with prompt storage on or off. The name of its key may be found. */
export async function customer(fleet: Fleet, stub: ProviderStub, storage: boolean): Promise<Customer> {
  const operator = fleet.operator();
  const { workspace, keys } = await operator.customer({ credit: "10", earlyAccess: ["embeddings", "completions"] });
  await operator.call("PATCH", `/workspaces/${workspace}`, { prompt_storage: storage });
  const { id = "", key = "" } = keys[0] ?? {};
  await operator.call("PATCH", `/keys/${id}`, { name: findable(workspace) });
  const canaries = newCanaries();
  const hasty = await operator.customer({ credit: "10", requestsPerMinute: 1 });
  const poor = await operator.customer({ credit: "0.000001" });
  const [hastyKey = "", poorKey = ""] = [...hasty.keys, ...poor.keys].map((made) => made.key);
  const sent = await spreadCanaries(canaries, { url: fleet.url(), key, hastyKey, poorKey, stub });
  for (const stream of [false, true]) {
    stub.answer(chat(`Here: ${canaries.answer}`));
    const body = { messages: [{ role: "user", content: `Say ${canaries.prompt}` }], user: canaries.aside, stream };
    const response = await workbench({ url: fleet.url(), operator, workspace, as: "owner@example.test", body });
    expect(await response.text()).toContain(canaries.answer);
    sent.answered.push({ generation: response.headers.get("x-generation-id") ?? "", streamed: stream });
  }
  await until(async () => (await operator.show(workspace)).reserved_usd === "0.000000000");
  return { workspace, keys: [key, hastyKey, poorKey], storage, canaries, sent };
}

/** A launch check that fails with the provider's text. The model cannot be called afterwards. */
export async function failCheck(fleet: Fleet, stub: ProviderStub, { canaries }: Customer): Promise<void> {
  stub.answer(error(500, canaries.providerError, canaries.providerError));
  const shown = JSON.stringify(await fleet.operator().call("POST", "/models/check", { id: "stub/model" }));
  expect(shown).toContain("launch_check_failed");
  expect(shown).not.toContain(canaries.providerError);
}

/** Finds what is stored on purpose, which proves that the search works. */
export function findable(workspace: string): string {
  return `findable-${workspace}`;
}

/** What the processes print and measure. */
export async function addSaid(traces: Traces, fleet: Fleet): Promise<void> {
  const processes: OurProcess[] = [
    ...fleet.gateways.map(({ process }) => process),
    ...fleet.workers,
    ...fleet.metering,
    ...fleet.prober,
  ];
  for (const [index, process] of processes.entries()) traces.add(`output ${index}`, process.output);
  for (const index of fleet.gateways.keys()) traces.add("metrics", await (await fleet.operator(index).send("/metrics")).text());
}

/** No prompt or answer is readable, stored or not: stored prompts are sealed. Keys and a provider's errors are never stored. */
export function expectNoTrace(traces: Traces, { workspace, keys, canaries }: Customer): void {
  expect(traces.whereIs(findable(workspace))).not.toEqual([]);
  const secrets = keys.map((key) => key.slice("platform-api-".length + 8, -4));
  const { prompt, aside, model, answer, providerError, wrongKeys } = canaries;
  expect(traces.whereIs(model).filter((name) => name !== "nats")).toEqual([]);
  for (const canary of [prompt, aside, answer, providerError, ...wrongKeys, ...keys, ...secrets, providerKeyCanary]) {
    expect([canary, traces.whereIs(canary)]).toEqual([canary, []]);
  }
}

/** A provider's text never reaches a client, and no answer repeats a wrong key. */
export function expectNoEcho({ canaries, sent }: Customer): void {
  expect(sent.errors).toContain("upstream_error");
  for (const canary of [canaries.providerError, canaries.aside, ...canaries.wrongKeys]) expect(sent.errors).not.toContain(canary);
}

/** With storage on, stored prompts are shown whole; with storage off there are none. */
export async function expectStored(fleet: Fleet, { workspace, storage, canaries, sent }: Customer): Promise<void> {
  const operator = fleet.operator();
  for (const { generation } of sent.answered) {
    const shown = operator.call("GET", `/prompts/${generation}?workspace=${workspace}`).then(JSON.stringify, String);
    if (!storage) expect(await shown).toContain("404");
    else for (const canary of [canaries.prompt, canaries.answer]) expect(await shown).toContain(canary);
  }
  expect(sent.embedded).not.toEqual([]);
  for (const generation of sent.embedded) {
    expect(await operator.call("GET", `/prompts/${generation}`).then(JSON.stringify, String)).toContain("404");
  }
  for (const generation of storage ? sent.failed : []) {
    const shown = await operator.call("GET", `/prompts/${generation}`);
    expect(shown["answer"]).toBeNull();
    expect(JSON.stringify(shown)).toContain(canaries.prompt);
    expect(JSON.stringify(shown)).not.toContain(canaries.providerError);
  }
}
