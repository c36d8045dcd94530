/**
 * A Redis with a few commands, for behaviour that a real one cannot show at a given moment. It stores nothing and runs no
 * functions.
 */
import type { Socket } from "node:net";
import { RawServer } from "./raw-server.ts";

const answers: Readonly<Record<string, string>> = {
  HELLO: "%1\r\n$5\r\nproto\r\n:3\r\n",
  PING: "+PONG\r\n",
  INFO: "$10\r\nrun_id:abc\r\n",
  FUNCTION: "$4\r\nweir\r\n",
  CONFIG: "%0\r\n",
  TIME: "*2\r\n$1\r\n7\r\n$1\r\n0\r\n",
};

export class FakeRedis implements AsyncDisposable {
  readonly #server = new RawServer((socket) => this.#hear(socket));
  readonly #read = new Map<Socket, number>();
  /** Commands that wait for an answer while it is silent. */
  readonly #waiting: [Socket, name: string][] = [];
  #isSilent = false;
  /** Fixed answers by command. */
  readonly saying: Record<string, string> = {};
  /** The names of all commands so far. */
  readonly heard: string[] = [];

  static async listen(): Promise<FakeRedis> {
    const redis = new FakeRedis();
    await redis.#server.listen();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#server.port}`;
  }

  get connections(): readonly Socket[] {
    return this.#server.connections;
  }

  /** Connections that neither side has closed. */
  get open(): readonly Socket[] {
    return this.connections.filter((socket) => !socket.destroyed && !socket.readableEnded);
  }

  times(command: string): number {
    return this.heard.filter((name) => name === command).length;
  }

  /** Reads every command and answers none until it speaks again. */
  hush(): void {
    this.#isSilent = true;
  }

  speak(): void {
    this.#isSilent = false;
    for (const [socket, name] of this.#waiting.splice(0)) this.#say(socket, name);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }

  #say(socket: Socket, name: string): void {
    if (this.#isSilent) this.#waiting.push([socket, name]);
    else socket.write(this.saying[name] ?? answers[name] ?? "-ERR unknown command\r\n");
  }

  #hear(socket: Socket): void {
    const received = this.#server.received[this.connections.indexOf(socket)] ?? "";
    for (let [name, end] = commandAt(received, this.#read.get(socket) ?? 0); end > 0; [name, end] = commandAt(received, end)) {
      this.#read.set(socket, end);
      this.heard.push(name);
      this.#say(socket, name);
    }
  }
}

/** A list of length-prefixed texts. @returns its first word and its end, which is 0 if the list is incomplete */
function commandAt(text: string, start: number): [name: string, end: number] {
  let name: string | undefined;
  let [count, at] = numberAt(text, start);
  for (; count > 0; count--) {
    const [length, first] = numberAt(text, at);
    at = first + length + 2;
    if (first === 0 || at > text.length) return ["", 0];
    name ??= text.slice(first, first + length);
  }
  return [name ?? "", name === undefined ? 0 : at];
}

/** A number after a type letter. @returns it and the start of what follows, which is 0 if it is incomplete */
function numberAt(text: string, start: number): [number: number, end: number] {
  const end = text.indexOf("\r\n", start);
  return end === -1 ? [0, 0] : [Number(text.slice(start + 1, end)), end + 2];
}
