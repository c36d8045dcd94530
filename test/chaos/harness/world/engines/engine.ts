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
  /** The targets of `isolate`. */
  readonly isolated: readonly string[];
  /** Cuts a server off from the others, but not from its clients. */
  isolate(target: string, ms: number): Promise<Healed>;
}

export interface Healed {
  /** When the engine begins to serve, in wall-clock milliseconds. Recovery is counted from then. */
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
  readonly isolated = [];

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

  isolate(target: string): Promise<Healed> {
    throw new Error(`There are no others beside ${target}`);
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

/** A master or leader that wakes has lost its place by then, or keeps it. */
const decidedMs = 1_000;

export interface Failover {
  /** Takes a server away, and gives it back. */
  fault(): Promise<void>;
  /** When another took its place; null: none did before `isOver`, or in time. */
  replaced(isOver: () => boolean): Promise<number | null>;
  /** Resolves when all servers are whole again. */
  joined(): Promise<void>;
}

/** Healed once another server has taken the place, while the first is still away; or once it is back, if none has. */
export async function failover({ fault, replaced, joined }: Failover): Promise<Healed> {
  let isOver = false;
  const over = fault().then(() => Date.now());
  const whole = over.then(async () => {
    await pause(decidedMs);
    isOver = true;
    await joined();
  });
  whole.catch(() => {});
  const at = await replaced(() => isOver);
  return { at: at ?? (await over), whole };
}
