/**
 * One connection to PostgreSQL for one statement or transaction at a time, thrown away when it breaks. postgres.js would reconnect under
 * the same object, but a query sent while the old connection closed is then lost, answered with no rows, or sent before the new
 * connection's greeting (3.4.9: `closed` keeps `query`, `chunk` and `nextWriteTimer`). The types of arrays are named here, so that a new
 * connection queries none. Over TLS the certificate must name the host.
 */
import { connect, isIP, type Socket } from "node:net";
import postgres from "postgres";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Secret } from "../../kernel/secret.ts";
import { readServerAddress } from "../../kernel/addresses.ts";
import { databaseConnectMs, databaseIdleInTransactionMs, databaseLockMs, databaseStatementMsMax } from "../limits.ts";
import { arrayText, readArray } from "../sql-text.ts";
import type { Database } from "../backing.ts";

/** The server ends a statement this much earlier than we give up on it. */
const serverLeadMs = 500;

/** The arrays that statements take and give, with their ids from PostgreSQL's pg_type.dat. */
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
      // postgres.js would query the types of arrays on each new connection, and never catch an error of that query.
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

  /** Gives a statement this long, then drops its connection: the server itself ends the statement earlier. */
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
    // Asked a second time: the first connection broke before it was open.
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
 * The host that the certificate must name: given a socket, postgres.js does not know where it leads. Its own option for TLS, `require`,
 * accepts any certificate.
 */
function verified(host: string): { rejectUnauthorized: true; host: string; servername?: string } {
  // Only names are sent to a server, not addresses: RFC 6066, 3.
  return { rejectUnauthorized: true, host, ...(isIP(host) === 0 && { servername: host }) };
}
