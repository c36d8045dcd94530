/** NATS as a run needs it: what its streams store is known in the end. */
import { join } from "node:path";
import type { Server } from "../../../../../scripts/services/server.ts";
import { SingleServer, type Engine, type Healed } from "./engine.ts";

export interface NatsEngine extends Engine {
  /** The folders of its streams. */
  readonly folders: readonly string[];
  /** The targets of `isolate`. */
  readonly isolated: readonly string[];
  /** Cuts a server off from the others, but not from its clients. */
  isolate(target: string, ms: number): Promise<Healed>;
}

export class SingleNats extends SingleServer implements NatsEngine {
  readonly folders: readonly string[];
  readonly isolated = [];

  constructor(server: Server, folder: string) {
    super("nats", server);
    this.folders = [join(folder, "streams")];
  }

  isolate(): Promise<Healed> {
    throw new Error("A single NATS server has no others");
  }
}
