/** NATS as a run needs it: what its streams store is known in the end. */
import { join } from "node:path";
import type { Server } from "../../../../../scripts/services/server.ts";
import { SingleServer, type Engine } from "./engine.ts";

export interface NatsEngine extends Engine {
  /** The folders of its streams. */
  readonly folders: readonly string[];
}

export class SingleNats extends SingleServer implements NatsEngine {
  readonly folders: readonly string[];

  constructor(server: Server, folder: string) {
    super("nats", server);
    this.folders = [join(folder, "streams")];
  }
}
