/**
 * One definition for each operation of the tools API: fields, data, annotations and handler. HTTP, MCP and the OpenAPI document are derived
 * from it, so they cannot differ.
 *
 * The fields of a call are validated here, once, and get their defaults; the error says what to change. Unknown fields are refused, since a
 * mistyped filter would otherwise return everything and look like an answer. A caller is the owner of a tools key in one workspace, with a
 * scope in it. The lists apply that scope, not this module.
 */
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { MemberActor } from "../accounts/audit/actor.ts";
import { DomainError } from "../accounts/errors.ts";
import type { Keyring } from "../accounts/secrets/keyring.ts";
import type { Database } from "../backing/backing.ts";
import type { Notification } from "../backing/bus.ts";
import { checkedFields, findFieldProblem, type FieldProblem } from "../http/field-problem.ts";
import type { SafeFetch } from "../http/safe-fetch.ts";
import type { Clock } from "../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../kernel/ids.ts";
import type { Logger } from "../kernel/log.ts";
import { toolsDeadlineMs } from "./limits.ts";
import type { SbomReader } from "./sboms/reader.ts";
import type { SbomResult } from "./sboms/sbom-field.ts";

/** The dependencies of operations. */
export interface OperationParts {
  sql: Database;
  clock: Clock;
  log: Logger;
  /** Whether this service sends email; otherwise emails wait. */
  sendsMail: boolean;
  /** Notifies every process, after the commit. */
  notify(topic: Notification): void;
  /** Reads documents without blocking the event loop. */
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
  /** Whether an MCP client asks. Such clients cannot hold long answers, so pages may be shorter. */
  isForMcp: boolean;
  /** Id of a file that the caller has already sent; null: none. */
  attachment: string | null;
  /** The document in the field `sbom`; null: the operation takes none, or the field has none. */
  sbom: SbomResult | null;
  parts: OperationParts;
}

export interface Outcome<Data> {
  data: Data;
  /** For people: what was done, and what an empty answer may mean. */
  message: string;
}

/** Hints for MCP clients: https://modelcontextprotocol.io/specification, ToolAnnotations. */
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
  /** The field `sbom` is a document. It is read from the raw bytes, with its own limits, before the other fields. */
  takesSbom?: true;
  /** Set if the operation takes longer than a list. */
  deadlineMs?: number;
  input: Input;
  /** `data` of the answer. */
  data: Data;
  handle(call: OperationCall<Static<Input>>): Promise<Outcome<Static<Data>>>;
}

/** An operation without its name, which comes from the list of operations. */
export interface UnnamedOperation extends Omit<Definition<TObject, TObject>, "handle" | "addition" | "takesSbom" | "deadlineMs"> {
  addition: boolean;
  takesSbom: boolean;
  deadlineMs: number;
  /** @throws DomainError if the caller must change the call */
  run(call: OperationCall<Record<string, unknown>>): Promise<Outcome<Record<string, unknown>>>;
}

/** An operation as the routes, the MCP server and the OpenAPI document see it. */
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

/** For operations that change nothing. */
export const reading: Annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** The part of the workspace that lists show. */
export type Scope = { kind: "workspace" } | { kind: "product" | "project"; id: string };

/** The caller of an operation: the owner of a tools key in one workspace, with a scope in it. */
export interface Caller {
  key: KeyId;
  workspace: WorkspaceId;
  /** The key's owner. */
  actor: MemberActor;
  scope: Scope;
}

/** Checks the fields of a call. @returns the fields with their defaults @throws DomainError invalid_field for the first problem */
export function checkInput<Fields extends TObject>(fields: Fields, given: Record<string, unknown>): Static<Fields> {
  const problem = findFieldProblem(fields, given, accepts);
  if (problem !== null) throw new DomainError("invalid_field", messageOf(problem), { field: problem.field });
  const withDefaults = Object.entries(fields.properties).flatMap(([field, { default: fallback }]): [string, unknown][] => {
    if (Object.hasOwn(given, field)) return [[field, given[field]]];
    return fallback === undefined ? [] : [[field, fallback]];
  });
  return checkedFields(fields, Object.fromEntries(withDefaults));
}

/** The schema of `data` describes an object, so `data` is one. */
function handled(outcome: Outcome<unknown>): Outcome<Record<string, unknown>> {
  return outcome as Outcome<Record<string, unknown>>;
}

/** Lengths are in characters, as in JSON Schema; JavaScript counts some characters twice. */
function accepts(schema: TSchema, value: unknown): boolean {
  if (typeof value !== "string" || schema["type"] !== "string") return Value.Check(schema, value);
  const { minLength = 0, maxLength = Infinity, ...rest } = schema;
  if (value.length > maxLength * 2) return false;
  const length = [...value].length;
  return length >= minLength && length <= maxLength && Value.Check(rest, value);
}

function messageOf(problem: FieldProblem): string {
  if (problem.kind === "missing") return `The field "${problem.field}" is missing: ${problem.needed} is needed`;
  if (problem.kind === "wrong") {
    const { field, value, needed, required } = problem;
    const leaveOut = value === null && !required ? "; leave the field out to mean none" : "";
    return `The field "${field}" is ${shown(value)}: ${needed} is needed${leaveOut}`;
  }
  const { field, nearest } = problem;
  const hint = nearest === undefined ? "this operation takes no fields" : `the nearest known field is "${nearest}"`;
  return `There is no field "${shortened(field)}": ${hint}`;
}

const shownMax = 60;

function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value !== "string") return String(value);
  const length = [...value].length;
  return length > shownMax || /\p{Cc}/u.test(value) ? `a text of ${length} characters` : JSON.stringify(value);
}

function shortened(name: string): string {
  return name.length > shownMax ? `${name.slice(0, shownMax)}…` : name;
}
