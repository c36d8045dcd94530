/** A call that changes nothing at a vendor, and shows whether the vendor accepts a connection's credentials. */
import type { Clock } from "../../kernel/clock.ts";
import type { Credentials } from "./check-credentials.ts";

export interface ProbeRequest {
  method: "GET" | "POST";
  /** https. */
  url: URL;
  headers: Record<string, string>;
  body?: string;
}

export interface ProbeAnswer {
  status: number;
  body: string;
}

/** Calls public hosts only. Rejects with the cause if there is no answer; follows no redirect. */
export type ProbeFetch = (request: ProbeRequest) => Promise<ProbeAnswer>;

export interface ProbeParts {
  probeFetch: ProbeFetch;
  clock: Clock;
}

export interface Probe {
  /** Id of the connector. */
  connector: string;
  /** Keys of the fields that it uses; other alternatives of the form have no test. */
  needs: readonly string[];
  /** @returns the answer that shows whether the credentials work @throws CredentialError */
  call(value: (key: string) => string, parts: ProbeParts): Promise<ProbeAnswer>;
}

/** A field's value cannot be used for a call. The message says what it must be, and never contains it. */
export class CredentialError extends Error {
  override name = "CredentialError";
  readonly field: string;

  constructor(field: string, needed: string) {
    super(`The field "${field}" cannot be used: ${needed}`);
    this.field = field;
  }
}

/** Reads the value of a field that the probe needs and the form may have as optional. */
export function valueOf(credentials: Credentials): (key: string) => string {
  return (key) => {
    const value = credentials.get(key);
    if (value === undefined) throw new CredentialError(key, "the test needs it");
    return value;
  };
}

/** Checks a value for a header, which accepts only printable ASCII. @throws CredentialError */
export function headerText(key: string, value: string): string {
  if (/^[\u0021-\u007e]+$/.test(value)) return value;
  throw new CredentialError(key, "printable ASCII characters without blanks are needed");
}
