/** The servers of one kind, which a fleet uses as one: a single server, or a cluster. */
import { signalTree } from "../../faults/process-tree.ts";
import type { Server } from "../../../../../scripts/services/server.ts";

export interface Engine extends AsyncDisposable {
  /** As Weir is given it. */
  readonly url: string;
  /** The names by which faults hit its servers. */
  readonly targets: readonly string[];
  /** SIGKILL. Its server, or the one that took its place, serves when this resolves. */
  kill(target: string): Promise<Healed>;
  /** SIGSTOP, and SIGCONT after `ms`, or later where its place is taken. */
  freeze(target: string, ms: number): Promise<Healed>;
}

export interface Healed {
  /** From when on the engine serves, in wall-clock milliseconds. Recovery is counted from then. */
  at: number;
  /** Resolves when all of its servers are back. */
  whole: Promise<void>;
}

/** What is over, and left nothing to repair. */
export function healedNow(): Healed {
  return { at: Date.now(), whole: Promise.resolve() };
}

export class SingleServer implements Engine {
  readonly server: Server;
  readonly targets: readonly string[];

  /** @param name by which faults hit it */
  constructor(name: string, server: Server) {
    this.server = server;
    this.targets = [name];
  }

  get url(): string {
    return this.server.url;
  }

  async kill(): Promise<Healed> {
    await this.server.kill("SIGKILL");
    await this.server.restart();
    return healedNow();
  }

  async freeze(_: string, ms: number): Promise<Healed> {
    await frozen(this.server, () => pause(ms));
    return healedNow();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server[Symbol.asyncDispose]();
  }
}

/** Stops all processes of a server meanwhile. */
export async function frozen({ pid }: Server, meanwhile: () => Promise<void>): Promise<void> {
  signalTree(pid, "SIGSTOP");
  try {
    await meanwhile();
  } finally {
    signalTree(pid, "SIGCONT");
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
