/** Clients without a connection pool, which open a connection for each request. A restart must lose none. */
import { connect } from "node:net";

export interface ShortConnectionsPlan {
  port: number;
  /** Keys that take turns, so that none reaches its limit in a minute. */
  keys: string[];
  /** The number of connections that are open at any time. */
  lanes: number;
}

/** A client's kernel waits a second before it sends its second SYN. */
const repeatedAfterMs = 900;
const lateMs = 30_000;

export class ShortConnections {
  readonly #plan: ShortConnectionsPlan;
  readonly #lanes: Promise<void>[];
  readonly #lost: string[] = [];
  #opened = 0;
  #answered = 0;
  #repeated = 0;
  #stopped = false;

  constructor(plan: ShortConnectionsPlan) {
    this.#plan = plan;
    this.#lanes = Array.from({ length: plan.lanes }, () => this.#lane());
  }

  get opened(): number {
    return this.#opened;
  }

  /** The number of complete answers of 200. */
  get answered(): number {
    return this.#answered;
  }

  /** The failure of each other connection. */
  get lost(): readonly string[] {
    return this.#lost;
  }

  /** The number of connections for which the client's kernel sent a second SYN. */
  get repeated(): number {
    return this.#repeated;
  }

  /** Resolves when all open connections have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#lanes);
  }

  async #lane(): Promise<void> {
    while (!this.#stopped) {
      const why = await this.#request(this.#opened++);
      if (why === null) this.#answered++;
      else this.#lost.push(why);
    }
  }

  /** @returns null for a complete answer, else the failure */
  #request(number: number): Promise<string | null> {
    const { port, keys } = this.#plan;
    const startedAt = performance.now();
    const request = requestOf(keys[number % keys.length] ?? "", number);
    return new Promise((resolve) => {
      let text = "";
      const end = (why: string | null): void => {
        socket.destroy();
        resolve(why === null ? null : `connection ${number}, after ${Math.round(performance.now() - startedAt)} ms: ${why}`);
      };
      const socket = connect({ port, host: "127.0.0.1" }, () => {
        if (performance.now() - startedAt > repeatedAfterMs) this.#repeated++;
        socket.write(request);
      });
      socket.setEncoding("latin1");
      socket.setTimeout(lateMs, () => end(`no answer for ${lateMs / 1_000} s`));
      socket.once("error", (error: NodeJS.ErrnoException) => end(`${error.code} after ${text.length} bytes`));
      socket.once("close", () => end(`closed after ${text.length} bytes`));
      socket.on("data", (piece: string) => {
        text += piece;
        if (isWhole(text)) end(text.startsWith("HTTP/1.1 200 ") ? null : text);
      });
    });
  }
}

/** Every other request asks for keep-alive, although the client then closes the connection. */
function requestOf(key: string, number: number): string {
  const body = JSON.stringify({
    model: "sandbox/echo",
    max_tokens: 4,
    messages: [{ role: "user", content: `connection ${number}` }],
  });
  return [
    "POST /gpt/v1/chat/completions HTTP/1.1",
    "Host: weir",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    `Connection: ${number % 2 === 0 ? "close" : "keep-alive"}`,
    "",
    body,
  ].join("\r\n");
}

function isWhole(text: string): boolean {
  const headEnd = text.indexOf("\r\n\r\n");
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, headEnd))?.[1];
  return headEnd >= 0 && length !== undefined && text.length >= headEnd + 4 + Number(length);
}
