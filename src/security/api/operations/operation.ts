/** One definition for each operation of the tools API, from which HTTP, MCP and the OpenAPI document are made. */
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

/** The parts that every operation uses. */
export interface OperationParts {
  sql: Database;
  clock: Clock;
  log: Logger;
  /** Whether this service sends mails; otherwise they wait. */
  sendsMail: boolean;
  /** Notifies every process, after the commit. */
  notify(topic: Notification): void;
  /** Reads documents without holding the event loop. */
  sboms: SbomReader;
  keyring: Keyring;
  /** Calls repository platforms. */
  callHosts: SafeFetch;
  /** Addresses of the platforms' APIs. */
  hostUrls: { github: string; gitlab: string };
}

/** One call, with checked fields and their defaults. */
export interface OperationCall<Input> {
  input: Input;
  caller: Caller;
  /** Whether an MCP client asks, which holds no long answer: pages may then be shorter. */
  isForMcp: boolean;
  /** Id of a file that the caller sent before; null: none. */
  attachment: string | null;
  /** The document in the field `sbom`, if the operation takes one; null: the field holds none. */
  sbom: SbomResult | null;
  parts: OperationParts;
}

export interface Outcome<Data> {
  data: Data;
  /** For people: what was done, and what an empty answer may mean. */
  message: string;
}

/** What MCP clients learn before they call: https://modelcontextprotocol.io/specification, ToolAnnotations. */
export interface Annotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

interface Definition<Input extends TObject, Data extends TObject> {
  title: string;
  /** For the person or model that chooses an operation. */
  description: string;
  annotations: Annotations;
  /** Not in the specification. */
  addition?: true;
  /** The field `sbom` is a document. It is read from the bytes that were sent, within its own bounds, before the other fields. */
  takesSbom?: true;
  /** For an operation that takes longer than a list. */
  deadlineMs?: number;
  input: Input;
  /** `data` of the answer. */
  data: Data;
  handle(call: OperationCall<Static<Input>>): Promise<Outcome<Static<Data>>>;
}

/** An operation without the name that the list of operations gives it. */
export interface UnnamedOperation extends Omit<Definition<TObject, TObject>, "handle" | "addition" | "takesSbom" | "deadlineMs"> {
  addition: boolean;
  takesSbom: boolean;
  deadlineMs: number;
  /** @throws DomainError if the caller must change the call */
  run(call: OperationCall<Record<string, unknown>>): Promise<Outcome<Record<string, unknown>>>;
}

/** An operation as the routes, the MCP server and the documents read it. */
export interface Operation extends UnnamedOperation {
  /** The specification's name, which follows `<slug>_`. */
  name: string;
}

export function operation<Input extends TObject, Data extends TObject>(definition: Definition<Input, Data>): UnnamedOperation {
  const { handle, addition = false, takesSbom = false, deadlineMs = toolsDeadlineMs, ...described } = definition;
  return {
    ...described,
    addition,
    takesSbom,
    deadlineMs,
    run: async (call) => handled(await handle({ ...call, input: checkInput(definition.input, call.input) })),
  };
}

/** The schema of `data` describes an object, so the data is one. */
function handled(outcome: Outcome<unknown>): Outcome<Record<string, unknown>> {
  return outcome as Outcome<Record<string, unknown>>;
}

/** For operations that change nothing. */
export const reading: Annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
