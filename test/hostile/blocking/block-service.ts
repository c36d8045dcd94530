/** Sends requests of every API to a running service, each with the slowest body or query below 1 MiB. */
import { endpoints } from "../../../src/control-api/endpoints.ts";
import { chatFields } from "../../../src/gateway/api/request/chat-fields.ts";
import { operations } from "../../../src/security/api/operations.ts";
import { wholeCatalog } from "../../support/providers/catalogs.ts";
import { freePort } from "../../../scripts/services/ports.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { bomJson, largeBom } from "../../support/security/sbom-documents.ts";
import type { Dice } from "../bodies/dice.ts";
import { heavyValues } from "./heavy-values.ts";
import { hostileSchemas } from "./hostile-schemas.ts";
import { hostileVex } from "./hostile-vex.ts";
import { type BlockingResult, ownExpressions } from "./block-thread.ts";

interface Sent {
  name: string;
  path: string;
  method: string;
  key: "chat" | "tools" | "operator" | null;
  body: string | null;
}

/** More attempts than for a text in a function, since the service's other work counts too. */
const attempts = 5;
const meterFile = new URL("./event-loop-meter.ts", import.meta.url).pathname;

/**
 * @param oneIn sends one in this many requests, chosen at random
 * @param msMax how long a request may block the event loop
 */
export async function blockService({
  dice,
  oneIn,
  msMax,
}: {
  dice: Dice;
  oneIn: number;
  msMax: number;
}): Promise<BlockingResult> {
  const port = await freePort();
  // As in production, where the best code is compiled.
  const environment = { BUN_JSC_useFTLJIT: "1", METER_PORT: String(port), BUN_OPTIONS: `--preload=${meterFile}` };
  await using fleet = await Fleet.start({ services: null, catalogDir: wholeCatalog, environment });
  const operator = fleet.operator();
  const [chat] = (await operator.customer({ credit: "1000", earlyAccess: ["embeddings", "completions", "routing"] })).keys;
  const keys = { chat: chat?.key ?? "", tools: await operator.agentKey(), operator: operator.token };
  await statusOf(fleet.url(), uploadOf("a project", bomJson("1.6")), keys);
  const measuredMs = async () => Number(await (await fetch(`http://127.0.0.1:${port}`)).text());
  const result: BlockingResult = { runs: 0, longestMs: 0, problems: [] };
  for (const sent of requests(dice)) {
    if (!dice.oneIn(oneIn)) continue;
    let best = Infinity;
    let status = 0;
    for (let attempt = 0; attempt < attempts && best > msMax; attempt++) {
      await measuredMs();
      status = await statusOf(fleet.url(), sent, keys);
      best = Math.min(best, await measuredMs());
    }
    result.runs++;
    result.longestMs = Math.max(result.longestMs, best);
    if (best > msMax) result.problems.push(`${sent.name}: the event loop was blocked for ${best.toFixed(0)} ms`);
    if (status === 0 || status >= 500) result.problems.push(`${sent.name}: answered ${status}`);
  }
  return result;
}

/** @returns the status; 0: the connection broke */
async function statusOf(url: string, { path, method, key, body }: Sent, keys: Record<string, string>): Promise<number> {
  const headers = {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    ...(key === null ? {} : { authorization: `Bearer ${keys[key] ?? ""}` }),
  };
  try {
    const response = await fetch(`${url}${path}`, { method, headers, ...(body === null ? {} : { body }) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

function* requests(dice: Dice): Generator<Sent> {
  for (const [what, value] of Object.entries(heavyValues)) yield* withValue(what, value);
  for (const [what, schema, said] of hostileSchemas) {
    const format = { type: "json_schema", json_schema: { name: "answer", schema } };
    const chat = { model: "sandbox/echo", messages: [{ role: "user", content: said }], response_format: format };
    const body = JSON.stringify(chat);
    yield { name: `a structured answer, ${what}`, path: "/gpt/v1/chat/completions", method: "POST", key: "chat", body };
  }
  for (const [what, sbom] of Object.entries(documents())) yield uploadOf(what, sbom);
  for (const [what, body] of Object.entries(hostileVex)) yield* files(what, body);
  for (const [what, sbom] of Object.entries(documents())) yield* files(what, JSON.stringify(sbom));
  for (const [expression, texts] of ownExpressions()) {
    const text = texts[dice.below(texts.length)]?.(2_500) ?? "";
    for (const name of ["q", "category", "method", "page", "limit"]) {
      const query = `${name}=${encodeURIComponent(text)}`;
      for (const path of ["/connectors", "/api/connectors"]) {
        yield {
          name: `GET ${path} ${name}, ${expression.source}`,
          path: `${path}?${query}`,
          method: "GET",
          key: null,
          body: null,
        };
      }
    }
  }
}

function uploadOf(what: string, sbom: unknown): Sent {
  const body = JSON.stringify({ project: "blocking", sbom });
  return { name: `upload_sbom, ${what}`, path: "/api/tools/platform_upload_sbom", method: "POST", key: "tools", body };
}

/** What endpoints that take a file need besides. */
const besides: Record<string, string> = { workspace: "agents", project: "blocking", name: "blocking" };

/** Sends the file to each endpoint that takes one. */
function* files(what: string, body: string): Generator<Sent> {
  for (const { method, path, fields } of endpoints.filter(({ file }) => file !== null)) {
    const query = new URLSearchParams(Object.entries(besides).filter(([name]) => name in fields.properties));
    yield { name: `${method} ${path}, ${what}`, path: `/api/console${path}?${query}`, method, key: "operator", body };
  }
}

/** Puts the value into each field of each API, and sends it as the body. */
function* withValue(what: string, value: string): Generator<Sent> {
  const message = '[{"role":"user","content":"Hello"}]';
  const chat = { path: "/gpt/v1/chat/completions", method: "POST", key: "chat" } as const;
  yield { ...chat, name: `a chat, ${what}`, body: value };
  for (const content of [value, `[{"type":"text","text":${value}}]`]) {
    const body = `{"model":"sandbox/echo","max_tokens":5,"messages":[{"role":"user","content":${content}}]}`;
    yield { ...chat, name: `a chat's content, ${what}`, body };
  }
  for (const { name } of chatFields) {
    yield {
      ...chat,
      name: `a chat's ${name}, ${what}`,
      body: `{"model":"sandbox/echo","messages":${message},"${name}":${value}}`,
    };
  }
  for (const [path, field, model] of [
    ["embeddings", "input", "sandbox/embed"],
    ["completions", "prompt", "sandbox/echo"],
  ] as const) {
    const other = { path: `/gpt/v1/${path}`, method: "POST", key: "chat" } as const;
    yield { ...other, name: `${path}, ${what}`, body: value };
    yield { ...other, name: `${path} ${field}, ${what}`, body: `{"model":"${model}","max_tokens":5,"${field}":${value}}` };
  }
  yield* files(what, value);
  for (const { name, input } of operations) {
    const tools = { path: `/api/tools/platform_${name}`, method: "POST", key: "tools" } as const;
    yield { ...tools, name: `${name}, ${what}`, body: value };
    for (const field of Object.keys(input.properties)) {
      yield { ...tools, name: `${name} ${field}, ${what}`, body: `{"${field}":${value}}` };
    }
  }
  const call = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
  for (const body of [value, call(value), call(`{"name":"platform_submit_feedback","arguments":${value}}`)]) {
    yield { path: "/mcp", method: "POST", key: "tools", name: `MCP, ${what}`, body };
  }
  for (const { path, method, fields } of endpoints.filter((one) => one.method !== "GET" && one.method !== "DELETE")) {
    // These are long by nature, and only the operator can start them.
    if (path.startsWith("/secrets") || path.startsWith("/accounts")) continue;
    const control = { path: `/api/console${path.replace(":id", "unknown")}`, method, key: "operator" } as const;
    yield { ...control, name: `${method} ${path}, ${what}`, body: value };
    for (const field of Object.keys(fields.properties)) {
      yield { ...control, name: `${method} ${path} ${field}, ${what}`, body: `{"${field}":${value}}` };
    }
  }
}

/** SBOMs above and below the size from which a subprocess reads them. */
function documents(): Record<string, unknown> {
  const bom = bomJson("1.6");
  const nested = Array.from({ length: 100 }).reduce<object>((inner) => ({ type: "library", name: "x", components: [inner] }), {
    type: "library",
    name: "x",
  });
  return {
    "many components": largeBom(4_000),
    "as many components as are read on the event loop": largeBom(100),
    "components within components": { ...bom, components: [nested] },
    "a problem in each component": { ...bom, components: Array.from({ length: 2_000 }, () => ({ type: "x" })) },
    "dependencies that repeat": {
      ...bom,
      dependencies: Array.from({ length: 60 }, () => ({ ref: "left", dependsOn: Array.from({ length: 40 }, () => "right") })),
    },
  };
}
