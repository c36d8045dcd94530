/** A call that changes nothing at a vendor, and shows whether the vendor takes a connection's credentials. */
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

/** Sends to a host outside, and nowhere else. Rejects with what kept it from an answer; follows no redirection. */
export type ProbeFetch = (request: ProbeRequest) => Promise<ProbeAnswer>;

export interface ProbeParts {
  probeFetch: ProbeFetch;
  clock: Clock;
}

export interface Probe {
  /** Id of the connector. */
  connector: string;
  /** Keys of the fields that it works with: other alternatives of the form have no test. */
  needs: readonly string[];
  /** @returns the answer that tells whether the credentials work @throws CredentialError */
  call(value: (key: string) => string, parts: ProbeParts): Promise<ProbeAnswer>;
}

/** A field's value cannot be used for a call; says what it must be and never what it is. */
export class CredentialError extends Error {
  override name = "CredentialError";
  readonly field: string;

  constructor(field: string, needed: string) {
    super(`The field "${field}" cannot be used: ${needed}`);
    this.field = field;
  }
}

/** The value of a field that the probe needs, which the form may have as optional. */
export function valueOf(credentials: Credentials): (key: string) => string {
  return (key) => {
    const value = credentials.get(key);
    if (value === undefined) throw new CredentialError(key, "the test needs it");
    return value;
  };
}

/** For a field that goes into a header, where line breaks and letters beyond ASCII cannot stand. @throws CredentialError */
export function headerText(key: string, value: string): string {
  if (/^[\u0021-\u007e]+$/.test(value)) return value;
  throw new CredentialError(key, "letters, digits and signs of ASCII without blanks are needed");
}
