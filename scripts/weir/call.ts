/**
 * Sends a verb's fields to the control API of a running service, and reads files that it uploads.
 *
 * Fields go into the path, then into the query of GET, DELETE and uploads, else into a JSON body. Every call ends in a bounded time. A
 * refusal is the service's own message; if the server is not Weir, the error says what answered.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { RemoteVerb } from "./verb.ts";
import { errorCode } from "../../src/kernel/error-code.ts";

/** The service refused the call, failed, or was not reached: exit code 1. */
export class CallError extends Error {
  override name = "CallError";
}

export interface Service {
  url: string;
  /** The operator token, or a tools key. */
  token: string;
}

const answerMsMax = 60_000;
/** Builds that share a key wait for each other this long in all. */
const busyMsMax = 300_000;
/** Most verbs that report progress end within ten minutes. */
const progressMsMax = 660_000;

export interface Call {
  verb: Pick<RemoteVerb, "method" | "path" | "progress">;
  fields: Record<string, unknown>;
  /** The bytes of a file. The fields then go into the query. */
  body?: Uint8Array<ArrayBuffer>;
  as: string | null;
}

/** @throws CallError unless the service answers with success */
export async function call({ verb, fields, body: read, as }: Call, { url, token }: Service): Promise<Response> {
  const { path, rest } = fillPath(verb.path, fields);
  const address = new URL(`${url}/api/console${path}`);
  const { query, body } = sentBy({ verb, fields: rest, read });
  for (const [field, value] of Object.entries(query)) if (value !== undefined) address.searchParams.set(field, String(value));
  const headers = {
    authorization: `Bearer ${token}`,
    accept: verb.progress ? "application/x-ndjson" : "application/json",
    ...(as !== null && { "x-act-as": as }),
  };
  const withinMs = verb.progress || read ? progressMsMax : answerMsMax;
  const send = () =>
    fetch(address, { method: verb.method, headers, body, signal: AbortSignal.timeout(withinMs) }).catch((error: unknown) => {
      throw new CallError(`Cannot reach Weir at ${url}: ${reasonOf(error)}; is it running? WEIR_URL names its address`, {
        cause: error,
      });
    });
  for (let waitedMs = 0; ;) {
    const response = await send();
    if (response.ok) return response;
    const refused = await readRefusal(response, url);
    // What reads, or stores the same file again, may be sent again.
    const waitMs = verb.method === "GET" || read !== undefined ? refused.busyMs : null;
    if (waitMs === null || waitedMs + waitMs > busyMsMax) throw new CallError(refused.message);
    waitedMs += waitMs;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

interface Sent {
  query: Record<string, unknown>;
  body: string | Uint8Array<ArrayBuffer> | null;
}

function sentBy({ verb: { method }, fields, read }: Pick<Call, "verb" | "fields"> & { read: Call["body"] }): Sent {
  if (read !== undefined) return { query: fields, body: read };
  if (method === "GET" || method === "DELETE") return { query: fields, body: null };
  return { query: {}, body: JSON.stringify(fields) };
}

/**
 * A local file for an upload; `-` is standard input.
 * @throws CallError when the file cannot be read, or is larger than the service accepts
 */
export function readUpload(path: string, bytesMax: number): { body: Uint8Array<ArrayBuffer>; filename: string | null } {
  let body: Uint8Array<ArrayBuffer>;
  try {
    body = new Uint8Array(readFileSync(path === "-" ? 0 : path));
  } catch (error) {
    throw new CallError(`Cannot read "${path}": ${reasonOf(error)}`, { cause: error });
  }
  if (body.length > bytesMax) throw new CallError(`Cannot send "${path}": it is larger than ${bytesMax / 1024 / 1024} MiB`);
  return { body, filename: path === "-" ? null : basename(path) };
}

function fillPath(path: string, fields: Record<string, unknown>): { path: string; rest: Record<string, unknown> } {
  const rest = { ...fields };
  const filled = path.replace(/:(\w+)/g, (_all, field: string) => {
    const value = rest[field];
    delete rest[field];
    return encodeURIComponent(String(value));
  });
  return { path: filled, rest };
}

/** What an endpoint answers: the control API's document states that its answer has these fields. */
export function answerAs<Answer>(answer: Record<string, unknown>): Answer {
  return answer as unknown as Answer;
}

/** Why a call or the reading of a file failed, in words for people. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "it does not answer";
  const code = errorCode(error);
  return reasons[code] ?? error.message;
}

/** Plain words instead of the runtime's. */
const reasons: Record<string, string> = {
  ECONNREFUSED: "no process listens there",
  ECONNRESET: "the connection was reset",
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "you may not read it",
};

interface Refusal {
  message: string;
  /** How long the service asks to wait, because a limit is reached; null: waiting does not help. */
  busyMs: number | null;
}

async function readRefusal(response: Response, url: string): Promise<Refusal> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text);
    if (typeof error?.message === "string") {
      const seconds = /^\d{1,4}$/.exec(response.headers.get("retry-after") ?? "")?.[0];
      const isBusy = seconds !== undefined && ["limit_reached", "unavailable"].includes(error.code);
      return { message: error.message, busyMs: isBusy ? Number(seconds) * 1_000 : null };
    }
  } catch {
    // Not JSON, so the server is not Weir.
  }
  return { message: `The server at ${url} is not Weir's control API: status ${response.status}`, busyMs: null };
}
