/** The target of requests, and their bytes, which are made once to keep the load generator cheap. */
import { Buffer } from "node:buffer";
import { bodyOf, type BodyPlan } from "./body.ts";

export interface Target {
  hostname: string;
  port: number;
  tls: boolean;
  streamed: boolean;
  /** The bytes of request n: in one buffer if one can be kept for each key, else head and body separately. */
  request(n: number): Buffer[];
}

export interface TargetPlan extends BodyPlan {
  /** The gateway, such as http://127.0.0.1:8080. */
  url: URL;
  /** The path, such as /gpt/v1/chat/completions. */
  path: string;
  /** The keys, which requests use in turn. */
  keys: readonly string[];
  /** Additional headers of every request. */
  headers: Record<string, string>;
}

export function targetOf(plan: TargetPlan): Target {
  const { url, keys, streamed } = plan;
  const tls = url.protocol === "https:";
  const body = bodyOf(plan);
  const kept = body.length * keys.length <= keptBytesMax;
  const made = new Map<string, Buffer[]>();
  const piecesFor = (key: string): Buffer[] => {
    const pieces = [headOf(plan, key, body.length), body];
    return kept ? [Buffer.concat(pieces)] : pieces;
  };
  return {
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port) || (tls ? 443 : 80),
    tls,
    streamed,
    request(n) {
      const key = keys[n % keys.length] ?? "";
      const pieces = made.get(key) ?? piecesFor(key);
      made.set(key, pieces);
      return pieces;
    },
  };
}

/** The memory limit for the requests of all keys. Above it they share their body. */
const keptBytesMax = 64 * 1024 * 1024;

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
