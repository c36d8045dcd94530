/** Sends many requests at once with one key. */
import { connect, type Socket } from "node:net";
import { outputTokens, type LimitedKey } from "./limit.ts";

/** How many answers had each status; a request without an answer has status 0. */
export type Statuses = Record<string, number>;

const timeoutMs = 60_000;

/** Opens all connections first, so that the requests leave within the same milliseconds. Answers are read to their end. */
export async function sendAtOnce(key: LimitedKey, count: number, streamed: boolean): Promise<Statuses> {
  const url = new URL(key.url);
  const bytes = requestOf(key, url, streamed);
  const sockets = await Promise.all(Array.from({ length: count }, () => opened(url)));
  const statuses = await Promise.all(sockets.map((socket) => answered(socket, bytes)));
  return Object.fromEntries([...Map.groupBy(statuses, String)].map(([status, all]) => [status, all.length]));
}

export function passed(statuses: Statuses): number {
  return statuses["200"] ?? 0;
}

function requestOf({ key, model }: LimitedKey, url: URL, streamed: boolean): string {
  const messages = [{ role: "user", content: "How high is the weir?" }];
  const body = JSON.stringify({ model, messages, max_tokens: outputTokens, ...(streamed && { stream: true }) });
  const head = [
    `POST ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

function opened(url: URL): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });
}

/** Resolves to the status when the server has closed the connection. */
function answered(socket: Socket, bytes: string): Promise<number> {
  return new Promise((resolve) => {
    let start = "";
    socket.on("data", (piece) => {
      if (start.length < statusLineLength) start += piece.toString("latin1");
    });
    socket.setTimeout(timeoutMs, () => socket.destroy());
    socket.once("close", () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(start)?.[1] ?? 0)));
    // A reset after the answer is an end as well.
    socket.on("error", () => {});
    socket.write(bytes);
  });
}

const statusLineLength = "HTTP/1.1 200".length;
