import type { Database } from "../../../src/backing/backing.ts";

/** For code that takes a database but must not use it. */
export const noDatabase = refuseAll();

/** The proxy throws at the first use of any property. */
function refuseAll(): Database {
  const refuse = () => {
    throw new Error("The test has no database");
  };
  return new Proxy(refuse, { get: refuse, apply: refuse }) as unknown as Database;
}
