/** What the tools API can do, one definition each: served over HTTP and MCP alike, and described from it. */
import type { Static, TObject } from "@sinclair/typebox";
import type { Database } from "../../../backing/backing.ts";
import type { Notification } from "../../../backing/bus.ts";
import type { SafeFetch } from "../../../http/outbound/safe-fetch.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { Logger } from "../../../kernel/log.ts";
import { toolsDeadlineMs } from "../../limits.ts";
import type { SbomReader } from "../../sboms/reader/reader.ts";
import type { SbomResult } from "../../sboms/reader/parse-sbom-field.ts";
import type { Keyring } from "../../../accounts/secrets/keyring.ts";
import type { Caller } from "./caller.ts";
import { checkInput } from "./check-input.ts";

/** What every operation works with. */
export interface OperationParts {
  sql: Database;
  clock: Clock;
  log: Logger;
  /** Whether this service sends mails; where it does not, they wait. */
  sendsMail: boolean;
  /** Notifies every process, after the commit. */
  notify(topic: Notification): void;
  /** Reads documents without holding the event loop. */
  sboms: SbomReader;
  keyring: Keyring;
  /** Calls the platforms that repositories are imported from. */
  callHosts: SafeFetch;
  /** Addresses of their APIs. */
  hostUrls: { github: string; gitlab: string };
}

/** One call, after its fields were checked and their defaults filled in. */
export interface Call<Input> {
  input: Input;
  caller: Caller;
  /** Id of a file that the caller sent ahead; null: none. */
  attachment: string | null;
  /** What the field `sbom` of an operation that takes one holds; null: nothing that could be one. */
  sbom: SbomResult | null;
  parts: OperationParts;
}

/** For people, beside the data: what was done, and what an empty answer may mean. */
export interface Outcome<Data> {
  data: Data;
  message: string;
}

/** What MCP clients are told before they call: https://modelcontextprotocol.io/specification, ToolAnnotations. */
export interface Annotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

interface Definition<Input extends TObject, Data extends TObject> {
  /** Follows `<slug>_`. */
  name: string;
  title: string;
  /** For whoever chooses among operations, a person or a model. */
  description: string;
  annotations: Annotations;
  /** The specification does not name it. */
  addition?: true;
  /** Its field `sbom` is a document: taken as the bytes that were sent, by bounds of its own, before the call's other fields. */
  takesSbom?: true;
  /** For what takes longer than a list does. */
  deadlineMs?: number;
  input: Input;
  /** `data` of the answer. */
  data: Data;
  handle(call: Call<Static<Input>>): Promise<Outcome<Static<Data>>>;
}

/** An operation as the routes, the MCP server and the documents read it. */
export interface Operation extends Omit<Definition<TObject, TObject>, "handle" | "addition" | "takesSbom" | "deadlineMs"> {
  addition: boolean;
  takesSbom: boolean;
  deadlineMs: number;
  /** @throws DomainError for what the caller has to change */
  run(call: Call<Record<string, unknown>>): Promise<Outcome<Record<string, unknown>>>;
}

export function operation<Input extends TObject, Data extends TObject>(definition: Definition<Input, Data>): Operation {
  const { handle, addition = false, takesSbom = false, deadlineMs = toolsDeadlineMs, ...described } = definition;
  return {
    ...described,
    addition,
    takesSbom,
    deadlineMs,
    run: async (call) => handled(await handle({ ...call, input: checkInput(definition.input, call.input) })),
  };
}

/** The schema of `data` is an object's, hence so is what it describes. */
function handled(outcome: Outcome<unknown>): Outcome<Record<string, unknown>> {
  return outcome as Outcome<Record<string, unknown>>;
}

/** Of operations that look and change nothing. */
export const reading: Annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
