/** Redis as a run needs it: all that the counters held is known in the end. */
import { connectClient, type StoreClient } from "../../../../support/counters/redis.ts";
import { HeldGenerations } from "../../checks/held-generations.ts";
import { SingleServer, type Engine, type Healed } from "./engine.ts";

export interface RedisEngine extends Engine {
  /** Replaces the master of a target with its replica, which loses nothing. */
  failover(target: string): Promise<Healed>;
  /** FLUSHALL. */
  empty(): Promise<void>;
  /** Every generation that was ever held. */
  held(): Promise<ReadonlySet<string>>;
  /** The addresses of the servers that have keys. */
  masters(): Promise<string[]>;
  /** The target that has the counters of a workspace. */
  targetOf(workspace: string): string;
  /** Scripts run where their keys are. */
  open(): Promise<Pick<StoreClient, "eval"> & Disposable>;
}

export class SingleRedis extends SingleServer implements RedisEngine {
  readonly #folder: string;

  constructor(server: SingleServer["server"], folder: string) {
    super("redis", server);
    this.#folder = folder;
  }

  failover(): Promise<Healed> {
    throw new Error("A single Redis has no replica");
  }

  async empty(): Promise<void> {
    const redis = await connectClient(this.url);
    await redis.flushAll().finally(() => redis.destroy());
  }

  async held(): Promise<ReadonlySet<string>> {
    return new HeldGenerations(this.#folder).read();
  }

  async masters(): Promise<string[]> {
    return [this.url];
  }

  targetOf(): string {
    return "redis";
  }

  async open() {
    const redis = await connectClient(this.url);
    return {
      eval: (script: string, options: { keys: string[] }): Promise<unknown> => redis.eval(script, options),
      [Symbol.dispose]: () => redis.destroy(),
    };
  }
}

/** Makes a Redis never rewrite its file, even after a restart, so that the file has every hold that ever existed. */
export async function keepWholeFile(url: string): Promise<void> {
  const redis = await connectClient(url);
  await redis.configSet("auto-aof-rewrite-percentage", "0");
  await redis.sendCommand(["CONFIG", "REWRITE"]);
  redis.destroy();
}
