/** Sends a verb's fields to the control API of a running service. */
import type { RemoteVerb } from "./verb.ts";

/** The service refused, failed or was not reached: exit code 1. */
export class CallError extends Error {
  override name = "CallError";
}

export interface Service {
  url: string;
  token: string;
}

const answerMsMax = 60_000;
/** What tells its progress ends by itself after ten minutes. */
const progressMsMax = 660_000;

export interface Call {
  verb: RemoteVerb;
  fields: Record<string, unknown>;
  as: string | null;
}

/** @throws CallError unless the service answers with success */
export async function call({ verb, fields, as }: Call, { url, token }: Service): Promise<Response> {
  const { path, rest } = fillPath(verb.path, fields);
  const address = new URL(`${url}/api/console${path}`);
  const queries = verb.method === "GET" || verb.method === "DELETE";
  if (queries) for (const [field, value] of Object.entries(rest)) address.searchParams.set(field, String(value));
  const headers = {
    authorization: `Bearer ${token}`,
    accept: verb.progress ? "application/x-ndjson" : "application/json",
    ...(as !== null && { "x-act-as": as }),
  };
  const body = queries ? null : JSON.stringify(rest);
  const signal = AbortSignal.timeout(verb.progress ? progressMsMax : answerMsMax);
  const response = await fetch(address, { method: verb.method, headers, body, signal }).catch((error: unknown) => {
    throw new CallError(`Cannot reach Weir at ${url}: ${reason(error)}; is it running? WEIR_URL says where`, { cause: error });
  });
  if (!response.ok) throw new CallError(await refusal(response, url));
  return response;
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

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "it does not answer";
  return "code" in error && error.code === "ECONNREFUSED" ? "nothing listens there" : error.message;
}

async function refusal(response: Response, url: string): Promise<string> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text);
    if (typeof error?.message === "string") return error.message;
  } catch {
    // Whatever answered is not Weir: said below.
  }
  return `What answers at ${url} is not Weir's control API: status ${response.status}`;
}
