/** PostgreSQL as a run needs it. */
import type { Server } from "../../../../../scripts/services/server.ts";
import { SingleServer, type Engine } from "./engine.ts";

export interface PostgresEngine extends Engine {
  /** The address of the server that takes writes. */
  primaryUrl(): string;
}

export class SinglePostgres extends SingleServer implements PostgresEngine {
  constructor(server: Server) {
    super("postgres", server);
  }

  primaryUrl(): string {
    return this.url;
  }
}
