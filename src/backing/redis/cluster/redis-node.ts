/** One Redis that has the counters of some workspaces: the only one, or a master of a cluster. */
import { CountersUnavailableError } from "../../counters.ts";
import type { FunctionCall, RedisConnection } from "../connection/connection.ts";
import { readMasterRun, type Server } from "../connection/server.ts";
import type { FunctionName } from "../function-library.ts";
import type { ReplyElement } from "../reply-reader.ts";
import { readNodesReport, type NodesReport } from "./nodes-report.ts";

export class RedisNode implements AsyncDisposable {
  /** Host and port. */
  readonly address: string;
  readonly #connection: RedisConnection;
  /** What a master of a cluster replied when it was asked; a new connection makes it void. */
  #master: { server: Server; run: number | null } | null = null;

  constructor(address: string, connection: RedisConnection) {
    this.address = address;
    this.#connection = connection;
  }

  /** null: it is not connected. */
  get server(): Server | null {
    return this.#connection.server;
  }

  /**
   * The run of its counters, see `Server`.
   * @throws CountersUnavailableError when it is not connected, or is of a cluster and is not known to be a master
   */
  get run(): number {
    const { server } = this;
    if (server === null) throw new CountersUnavailableError("Redis is not connected");
    if (!server.clustered) return server.run;
    const run = this.#master?.server === server ? this.#master.run : null;
    if (run === null) throw new CountersUnavailableError("A node of the Redis Cluster is no master");
    return run;
  }

  /** Asks which node has which slots, and whether it is a master. @throws CountersUnavailableError, Error when the reply cannot be read */
  async report({ encrypted }: { encrypted: boolean }): Promise<NodesReport> {
    const { server } = this;
    if (server === null) throw new CountersUnavailableError("Redis is not connected");
    const words = [
      ["CLUSTER", "NODES"],
      ["INFO", "replication"],
    ];
    const [nodes = "", replication = ""] = await Promise.all(words.map((command) => this.#connection.text(command)));
    this.#master = { server, run: readMasterRun(server, replication) };
    return readNodesReport(nodes, { asked: this.address, encrypted });
  }

  /** Runs a function. @throws CountersUnavailableError: whether it ran is then unknown */
  call(name: FunctionName, call: FunctionCall): Promise<ReplyElement[]> {
    return this.#connection.call(name, call);
  }

  /** @throws CountersUnavailableError: whether it ran is then unknown */
  command(words: string[]): Promise<ReplyElement[]> {
    return this.#connection.command(words);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection[Symbol.asyncDispose]();
  }
}
