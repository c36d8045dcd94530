/**
 * One connection to PostgreSQL for one statement or transaction at a time, thrown away when it breaks. postgres.js would connect again
 * under the same object, but what was asked while the old connection closed is forgotten then, answered with no rows, or sent before the
 * greeting of the new one (3.4.9: `closed` keeps `query`, `chunk` and `nextWriteTimer`).
 * Arrays travel by types that are named here, so that a new connection asks for none. Over TLS the certificate must name the host.
 */
import { connect, isIP, type Socket } from "node:net";
import postgres from "postgres";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Secret } from "../../kernel/secret.ts";
import { readServerAddress } from "../../kernel/addresses.ts";
import { databaseConnectMs, databaseIdleInTransactionMs, databaseLockMs, databaseStatementMsMax } from "../limits.ts";
import { arrayText, readArray } from "../sql-text.ts";
import type { Database } from "../backing.ts";

/** The server ends a statement this much earlier than we give it up. */
const serverLeadMs = 500;

/** The arrays that statements take and give, with their ids of PostgreSQL's pg_type.dat. */
const arrays = {
  texts: arrayOf(1009, String),
  smallints: arrayOf(1005, Number),
  integers: arrayOf(1007, Number),
  bigints: arrayOf(1016, BigInt),
};

export interface SessionParts {
  url: Secret;
  /** Shown by pg_stat_activity. */
  applicationName: string;
  clock: Clock;
}

/** The parts of postgres.js's parsed options that say where the server is. */
interface Address {
  host: string[];
  port: number[];
  path: string | false;
}

export class Session {
  readonly sql: Database;
  readonly #clock: Clock;
  #socket: Socket | null = null;
  #alive = true;
  #fail: ((error: Error) => void) | null = null;

  /** Connects on first use. */
  constructor({ url, applicationName, clock }: SessionParts) {
    this.#clock = clock;
    const socket = { socket: (address: Address) => this.#connect(address) };
    const { host, encrypted } = readServerAddress(url.reveal());
    this.sql = postgres(url.reveal(), {
      ...socket,
      ssl: encrypted && verified(host),
      max: 1,
      // postgres.js would ask each new connection for the types of arrays. The error of that question is never caught.
      fetch_types: false,
      types: { bigint: postgres.BigInt, ...arrays },
      connect_timeout: databaseConnectMs / 1_000,
      onnotice: () => {},
      onclose: () => this.#end(),
      connection: {
        application_name: applicationName,
        TimeZone: "UTC",
        statement_timeout: databaseStatementMsMax - serverLeadMs,
        lock_timeout: databaseLockMs,
        idle_in_transaction_session_timeout: databaseIdleInTransactionMs,
      },
    });
  }

  /** False once the connection is gone. */
  get alive(): boolean {
    return this.#alive;
  }

  /** The promise's own outcome, or an error as soon as the connection is gone. Used by one caller at a time. */
  outcome<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      promise.then(resolve, reject).finally(() => (this.#fail = null));
      if (!this.#alive) reject(new Error("The connection to the database is closed"));
    });
  }

  /** Gives a statement so long, and drops the connection of one that is not over: the server itself ends it earlier. */
  async watch<T>(statementMs: number, promise: Promise<T>): Promise<T> {
    let missed = true;
    const noted = promise.finally(() => (missed = false));
    try {
      return await withDeadline(this.#clock, statementMs, "A statement of the database", noted);
    } finally {
      if (missed) this.drop();
    }
  }

  /** Calls back once, `ms` from now; returns what cancels it. */
  after(ms: number, callback: () => void): () => void {
    return this.#clock.after(ms, callback);
  }

  drop(): void {
    this.#socket?.destroy();
    this.#end();
  }

  #connect({ host: [host], port: [port], path }: Address): Socket {
    // Asked a second time, the first connection broke before it was open.
    if (this.#socket !== null) {
      this.#end();
      throw new Error("The database closed the connection");
    }
    this.#socket = connect(path ? { path } : { host: host ?? "localhost", port: port ?? 5432 });
    this.#socket.setNoDelay(true);
    return this.#socket;
  }

  #end(): void {
    this.#alive = false;
    this.#fail?.(new Error("The connection to the database was lost"));
  }
}

function arrayOf<T extends string | number | bigint>(oid: number, read: (element: string) => T) {
  const serialize = (values: readonly T[] | string) =>
    typeof values === "string" ? values : arrayText(values, (value) => value);
  return { to: oid, from: [oid], serialize, parse: (text: string) => readArray(text, read) };
}

/**
 * Whom the certificate is to name: given a socket, postgres.js does not know where it leads. Its own word for TLS, `require`, takes
 * any certificate.
 */
function verified(host: string): { rejectUnauthorized: true; host: string; servername?: string } {
  // Names alone are announced to a server: RFC 6066, 3.
  return { rejectUnauthorized: true, host, ...(isIP(host) === 0 && { servername: host }) };
}
