/** PostgreSQL over TCP: a small pool that outlives the server's restarts and never waits longer than databaseDeadlineMs. */
import { connect, type Socket } from "node:net";
import postgres from "postgres";
import type { Clock } from "../../kernel/clock.ts";
import type { Secret } from "../../kernel/secret.ts";
import {
  databaseConnectionsMax,
  databaseConnectMs,
  databaseIdleInTransactionMs,
  databaseLineMsMax,
  databaseLockMs,
  databaseStatementMsMax,
} from "../../limits/constants.ts";
import type { Database } from "../backing.ts";
import { boundedSql } from "./bounded-sql.ts";
import { Line } from "./line.ts";

/** The server ends a statement this much earlier than we give it up. */
const serverLeadMs = 500;
const closeSeconds = 2;

export interface PostgresParts {
  url: Secret;
  /** Shown by pg_stat_activity. */
  applicationName: string;
  clock: Clock;
}

export interface OpenDatabase extends AsyncDisposable {
  sql: Database;
}

/** Connects on first use. Statements throw while the server is away, and work again once it is back. */
export function openPostgres({ url, applicationName, clock }: PostgresParts): OpenDatabase {
  const sockets = new Set<Socket>();
  const sql = postgres(url.reveal(), {
    ...socketsOf(sockets),
    max: databaseConnectionsMax,
    types: { bigint: postgres.BigInt },
    connect_timeout: databaseConnectMs / 1_000,
    backoff: () => 0.1,
    onnotice: () => {},
    connection: {
      application_name: applicationName,
      TimeZone: "UTC",
      statement_timeout: databaseStatementMsMax - serverLeadMs,
      lock_timeout: databaseLockMs,
      idle_in_transaction_session_timeout: databaseIdleInTransactionMs,
    },
  });
  const bounds = {
    clock,
    statementMs: databaseStatementMsMax,
    line: new Line({ places: databaseConnectionsMax, waitMsMax: databaseLineMsMax, clock }),
    dropConnections: () => drop(sockets),
  };
  return {
    sql: boundedSql(sql, bounds),
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: closeSeconds });
      drop(sockets);
    },
  };
}

/**
 * Makes the pool's sockets, so that they can be dropped. A server that hangs up while a connection is being made is an error
 * here: postgres.js alone would try again at once, for ever.
 */
function socketsOf(sockets: Set<Socket>): object {
  return {
    socket: ({ host: [host], port: [port], path }: { host: string[]; port: number[]; path: string | false }): Socket => {
      for (const socket of sockets) if (socket.destroyed) sockets.delete(socket);
      const socket = connect(path ? { path } : { host: host ?? "localhost", port: port ?? 5432 });
      socket.setNoDelay(true);
      socket.once("end", () => socket.destroy(new Error("The database closed the connection")));
      sockets.add(socket);
      return socket;
    },
  };
}

function drop(sockets: Set<Socket>): void {
  for (const socket of sockets) socket.destroy(new Error("The database did not answer in time"));
  sockets.clear();
}
