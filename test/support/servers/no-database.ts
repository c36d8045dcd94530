import type { Database } from "../../../src/backing/backing.ts";

/** For what takes a database and must not come to use it. */
export const noDatabase = refuseAll();

/** The proxy throws at the first use of whatever a database has. */
function refuseAll(): Database {
  const refuse = () => {
    throw new Error("The test has no database");
  };
  return new Proxy(refuse, { get: refuse, apply: refuse }) as unknown as Database;
}
