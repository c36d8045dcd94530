/** Where requests go, and the bytes of each: made once, for a load generator must cost little beside what it measures. */
import { Buffer } from "node:buffer";

export interface Target {
  hostname: string;
  port: number;
  tls: boolean;
  streamed: boolean;
  /** The bytes of request number n. */
  request(n: number): Buffer;
}

export interface TargetPlan {
  /** Such as http://127.0.0.1:8080. */
  url: URL;
  /** Such as /gpt/v1/chat/completions. */
  path: string;
  /** Requests take them in turn. */
  keys: readonly string[];
  model: string;
  streamed: boolean;
  /** Of the request's body, about. */
  bodyBytes: number;
  maxTokens: number;
  /** Sent with every request besides. */
  headers: Record<string, string>;
}

export function targetOf(plan: TargetPlan): Target {
  const { url, keys, streamed } = plan;
  const tls = url.protocol === "https:";
  const body = Buffer.from(bodyOf(plan));
  const made = new Map<string, Buffer>();
  const shared = body.length * keys.length <= madeBytesMax;
  const bytesFor = (key: string): Buffer => Buffer.concat([headOf(plan, key, body.length), body]);
  return {
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port) || (tls ? 443 : 80),
    tls,
    streamed,
    request(n) {
      const key = keys[n % keys.length] ?? "";
      const known = made.get(key);
      if (known !== undefined) return known;
      const bytes = bytesFor(key);
      if (shared) made.set(key, bytes);
      return bytes;
    },
  };
}

/** Above this the requests of all keys are not kept. */
const madeBytesMax = 64 * 1024 * 1024;

function headOf({ url, path, headers }: TargetPlan, key: string, bodyBytes: number): Buffer {
  const lines = [
    `POST ${url.pathname.replace(/\/$/, "")}${path} HTTP/1.1`,
    `Host: ${url.host}`,
    `Authorization: Bearer ${key}`,
    `Content-Type: application/json`,
    `Content-Length: ${bodyBytes}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
}

const filler = "The weir is low, the river wide, and every drop is counted. ";

function bodyOf({ model, streamed, bodyBytes, maxTokens }: TargetPlan): string {
  const body = (content: string) =>
    JSON.stringify({
      model,
      messages: [{ role: "user", content }],
      max_tokens: maxTokens,
      ...(streamed ? { stream: true } : {}),
    });
  const missing = Math.max(1, bodyBytes - body("").length);
  return body(filler.repeat(Math.ceil(missing / filler.length)).slice(0, missing));
}
