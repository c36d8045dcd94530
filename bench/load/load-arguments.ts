/** The arguments of `npm run bench -- load`, and of each load that the bench requests from its generators. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { UsageError } from "../usage-error.ts";
import { agentApis, type AgentApi } from "./agent-body.ts";
import type { LoadPlan } from "./run-load.ts";
import { targetOf, type Target, type TargetPlan } from "./target.ts";

export const loadUsage = `npm run bench -- load --url URL --key KEY [--rate N | --connections N] [--seconds S] [--stream] [--body BYTES]

  --url URL           the gateway, such as http://127.0.0.1:8080
  --key KEY           an inference key; --keys FILE has several, one a line, used in turn
  --rate N            open loop: N requests a second; latency counts from when each was due
  --connections N     closed loop: N connections with one request at a time each (default 8)
  --ramp S            closed loop: opens the connections evenly over S seconds (default 0: all at once)
  --connections-max N open loop: the highest number of connections (default 4096)
  --seconds S         the measured time (default 10), after --warm-up S that do not count (default 1)
  --stream            streamed answers: first event, gaps, and lateness if the provider sends its time
  --body BYTES        size of the request's body (default 1024); above 4 KiB it is a conversation of several messages
  --texts N           embeddings in place of chat: N texts share the body's bytes; give --path too
  --agent API         a coding agent's request in the form of chat, messages or responses; give --stream and --path too
  --model ID          default sandbox/echo; --max-tokens N, default 16
  --path PATH         default /gpt/v1/chat/completions; --header "name: value" may be given several times
  --timeout S         a request that takes longer fails (default 60)
  --json              print one JSON document on stdout
  --yes-remote        allow an address beyond this machine, where every request may cost money`;

const options = {
  url: { type: "string" },
  key: { type: "string" },
  keys: { type: "string" },
  rate: { type: "string" },
  connections: { type: "string" },
  ramp: { type: "string" },
  "connections-max": { type: "string" },
  seconds: { type: "string" },
  "warm-up": { type: "string" },
  stream: { type: "boolean" },
  body: { type: "string" },
  texts: { type: "string" },
  agent: { type: "string" },
  model: { type: "string" },
  "max-tokens": { type: "string" },
  path: { type: "string" },
  header: { type: "string", multiple: true },
  timeout: { type: "string" },
  json: { type: "boolean" },
  "yes-remote": { type: "boolean" },
} as const;

export type LoadValues = ReturnType<typeof readLoadArguments>;

/** @throws UsageError */
export function readLoadArguments(words: string[]) {
  try {
    return parseArgs({ args: words, options }).values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${loadUsage}`);
  }
}

/** @param makeTarget replaces `targetOf`, to keep a target between loads. @throws UsageError */
export function planOf(
  values: LoadValues,
  makeTarget: (plan: TargetPlan) => Target = targetOf,
): Omit<LoadPlan, "stop" | "progress"> {
  if (values.rate !== undefined && values.connections !== undefined) {
    throw new UsageError("--rate is an open loop and --connections a closed one: give only one of them");
  }
  const target = makeTarget({
    url: readUrl(values),
    path: values.path ?? "/gpt/v1/chat/completions",
    keys: readKeys(values),
    model: values.model ?? "sandbox/echo",
    streamed: values.stream === true,
    bodyBytes: number("--body", values.body ?? "1024", 1, 64 * 1024 * 1024),
    texts: values.texts === undefined ? null : number("--texts", values.texts, 1, 2_048),
    agent: values.agent === undefined ? null : readApi(values.agent),
    maxTokens: number("--max-tokens", values["max-tokens"] ?? "16", 1, 1_000_000),
    headers: readHeaders(values.header ?? []),
  });
  const rampSeconds = number("--ramp", values.ramp ?? "0", 0, 3_600);
  const connectionsMax = number("--connections-max", values["connections-max"] ?? "4096", 1, 60_000);
  return {
    target,
    loop:
      values.rate === undefined
        ? { kind: "closed", connections: number("--connections", values.connections ?? "8", 1, 60_000), rampSeconds }
        : { kind: "open", perSecond: number("--rate", values.rate, 0.01, 1_000_000), connectionsMax },
    ...timesOf(values),
  };
}

/** The measured time, the warm-up and the timeout of a load. @throws UsageError */
export function timesOf(values: LoadValues): Pick<LoadPlan, "seconds" | "warmUpSeconds" | "timeoutSeconds"> {
  return {
    seconds: number("--seconds", values.seconds ?? "10", 0.1, 86_400),
    warmUpSeconds: number("--warm-up", values["warm-up"] ?? "1", 0, 3_600),
    timeoutSeconds: number("--timeout", values.timeout ?? "60", 0.1, 3_600),
  };
}

function readUrl(values: LoadValues): URL {
  const text = values.url ?? "";
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new UsageError(`--url is "${text}": it must be an address such as http://127.0.0.1:8080\n\n${loadUsage}`);
  }
  const url = new URL(text);
  if (!isLoopback(url.hostname) && values["yes-remote"] !== true) {
    throw new UsageError(
      `"${url.host}" is not this machine: load on another service costs its owner, and maybe you. To send it anyway, add --yes-remote`,
    );
  }
  return url;
}

/** Judges by the spelling: a host name could be any machine, except localhost, which is reserved. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function readKeys(values: LoadValues): string[] {
  const keys =
    values.keys === undefined
      ? []
      : readFileSync(values.keys, "utf8")
          .split(/\s+/)
          .filter((key) => key !== "");
  if (values.key !== undefined) keys.push(values.key);
  if (keys.length === 0) throw new UsageError(`--key or --keys is needed\n\n${loadUsage}`);
  return keys;
}

function readApi(text: string): AgentApi {
  const api = agentApis.find((one) => one === text);
  if (api === undefined) throw new UsageError(`--agent is "${text}": it must be one of ${agentApis.join(", ")}`);
  return api;
}

function readHeaders(texts: string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = /^([A-Za-z0-9-]+): *([^\r\n]*)$/.exec(text) ?? [];
      if (name === undefined || value === undefined) throw new UsageError(`--header "${text}" is not "name: value"`);
      return [name, value];
    }),
  );
}

function number(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text !== "" && value >= min && value <= max) return value;
  throw new UsageError(`${name} is "${text}": it must be a number from ${min} to ${max}`);
}
