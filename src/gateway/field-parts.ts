/**
 * The parts of a field in the table of a generation's fields: its place on the wire, its column, and how answers show it. `field` checks
 * that they fit: the column stores what the wire has, and both answers take the same value. The common ways to store and to show a value
 * are here, so that the table only names them.
 *
 * The view that takes a column decides the type it is read as. As with any statement, the compiler cannot check that the database agrees;
 * tests of the log do.
 */
import { Type, type Static, type TOptional, type TSchema, type TUndefined } from "@sinclair/typebox";
import type { Caller } from "../accounts/keys/store.ts";
import { isoTime } from "../kernel/clock.ts";
import { formatUsd, type NanoUsd } from "../kernel/money.ts";

export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Up to the last millisecond that a Date can hold. */
export const Time = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 });
export const Amount = Type.String({ pattern: "^\\d{1,19}$" });
export const TextOrNull = Type.Union([Type.String(), Type.Null()]);

/** An endpoint other than chat completions. */
export const Endpoint = Type.Union([
  Type.Literal("completions"),
  Type.Literal("embeddings"),
  Type.Literal("messages"),
  Type.Literal("responses"),
]);
export type Endpoint = Static<typeof Endpoint>;

/** Every endpoint, as answers name it. */
export const NamedEndpoint = Type.Union([Type.Literal("chat"), ...Endpoint.anyOf]);
export type NamedEndpoint = Static<typeof NamedEndpoint>;

/** A call of a provider for a routed request. */
export const RouteAttempt = Type.Object({
  provider: Type.String({ description: "The provider that was called" }),
  model: Type.String({ description: "The model that was called" }),
  own_key: Type.Boolean({ description: "Whether the workspace's own provider key was used" }),
  code: Type.Union([Type.String(), Type.Null()], { description: "The code of the failure; null: it answered" }),
  ms: Type.Integer({ ...Count, description: "From the call to its failure or to the end of its answer, in milliseconds" }),
});
export type RouteAttempt = Static<typeof RouteAttempt>;

/** What recognises a repeated request, and a digest of its body. */
export const Claim = Type.Object({ id: Type.String(), body: Type.String() });
export type Claim = Static<typeof Claim>;

export const Routing = Type.Object({
  /** The request's `model`, if another one served or was tried last; null: it is `model`. */
  requested: TextOrNull,
  attempts: Type.Array(RouteAttempt),
});
export type Routing = Static<typeof Routing>;

// The parts of a field.

interface Wire<Group extends "prices" | "usage" | null, Schema extends TSchema> {
  place: number;
  /** The object of the settlement that it is in; null: in none. */
  group: Group;
  schema: Schema;
  /** Few settlements have it, so it is in an object after the values, under its name. */
  isRare: boolean;
}

interface Column<Value> {
  /** In the type `booked_generation`. */
  place: number;
  name: string;
  /** Its name in that type. */
  sent: string;
  store: (value: Value, booked: Booked) => Sent;
}

export type Sent = string | number | bigint | boolean | null;

/** Values that are booked in addition to the settlement. */
interface Booked {
  settlement: { admittedAt: number; ownKey?: { listCost: string } | undefined };
  entry: bigint | null;
  cost: NanoUsd;
  excess: NanoUsd;
  late: boolean;
  costPico: bigint;
  /** null: none, or its generation left nothing. */
  claim: Claim | null;
}

export interface Shown<Name extends string, Read, Schema extends TSchema> {
  name: Name;
  schema: Schema;
  /** @param read the value of the field's column in the log; undefined: it has none */
  of: (read: Read, whole: Whole) => Given<Schema>;
}

type Given<Schema extends TSchema> = Schema extends TOptional<TSchema> ? Static<Schema> | undefined : Static<Schema>;

/** Values that may be shown in addition to a field's own column. */
export interface Whole {
  status: number;
  routing: Routing | null;
  firstTokenMs: number | null;
  durationMs: number;
  /** Absent: it is unknown. */
  caller?: Caller | undefined;
}

interface FieldParts<Schema extends TSchema, Read> {
  wire?: Wire<"prices" | "usage" | null, Schema>;
  column?: Column<Given<Schema>>;
  /** In the log of the control API. */
  view?: Shown<string, Read, TSchema>;
  /** In the answer of GET /generation, with its place: a name, if the rest is as in the log. */
  answer?: readonly [place: number, shown: string | Shown<string, Read, TSchema>];
  /** Its place in the CSV of requests. */
  csv?: number;
  /** Its place in the CLI's list: a narrow terminal cuts off what comes last. */
  cli?: number;
  /** Its place and label among the facts on a request's page. */
  page?: readonly [place: number, label: string];
}

/** Any field, for code that reads all of them: `field` has checked that its parts fit together. */
export interface AnyField extends Omit<FieldParts<TSchema, never>, "column"> {
  column?: Column<never>;
}

/** Checks that the parts take each other's values. */
export function field<const Field extends FieldParts<Schema, Read>, Read, Schema extends TSchema = TUndefined>(
  parts: Field & FieldParts<Schema, Read>,
): Field {
  return parts;
}

export function at<Schema extends TSchema>(place: number, schema: Schema) {
  return onWire({ place, group: null, schema, isRare: false });
}

export function rare<Schema extends TSchema>(place: number, schema: Schema) {
  return onWire({ place, group: null, schema: Type.Optional(schema), isRare: true });
}

export function inUsage(place: number) {
  return onWire({ place, group: "usage", schema: Count, isRare: false });
}

export function inPrices(place: number) {
  return onWire({ place, group: "prices", schema: Amount, isRare: false });
}

function onWire<const Group extends "prices" | "usage" | null, Schema extends TSchema>(
  wire: Wire<Group, Schema>,
): Wire<Group, Schema> {
  return wire;
}

/** The value is stored as it is, or NULL where it is absent. */
export function kept(place: number, name: string, sent = name): Column<Sent | undefined> {
  return { place, name, sent, store: (value) => value ?? null };
}

export function stored<Value>(place: number, name: string, store: Column<Value>["store"], sent = name): Column<Value> {
  return { place, name, sent, store };
}

/** No real count exceeds what the column holds. */
export function storable(count: number): number {
  return Math.min(count, 2 ** 31 - 1);
}

export function storableOrNone(count: number): number | null {
  return storable(count) || null;
}

export function shown<const Name extends string, Schema extends TSchema, Read>(
  name: Name,
  schema: Schema,
  of: (read: Read, whole: Whole) => Given<Schema>,
): Shown<Name, Read, Schema> {
  return { name, schema, of };
}

export function text<const Name extends string>(name: Name, description: string) {
  return shown(name, Type.String({ description }), (read: string) => read);
}

export function textOrNull<const Name extends string, Read>(
  name: Name,
  description: string,
  of: (read: Read, whole: Whole) => string | null,
) {
  return shown(name, Type.Union([Type.String(), Type.Null()], { description }), of);
}

export function integer<const Name extends string>(name: Name, description: string) {
  return shown(name, Type.Integer({ description }), (read: number) => read);
}

export function integerOrNull<const Name extends string>(name: Name, description: string) {
  return shown(name, Type.Union([Type.Integer(), Type.Null()], { description }), (read: number | null) => read);
}

export function tokens<const Name extends string>(name: Name, description: string) {
  return shown(name, Type.Integer({ minimum: 0, description }), (read: number) => read);
}

/** NULL: none. */
export function tokensOrNone<const Name extends string>(name: Name, description: string) {
  return shown(name, Type.Integer({ minimum: 0, description }), (read: number | null) => read ?? 0);
}

export function usd<const Name extends string>(name: Name, description: string) {
  return shown(name, Type.String({ description }), (read: NanoUsd) => formatUsd(read));
}

export function timeView<const Name extends string>(name: Name, description: string) {
  return shown(name, Type.String({ description }), (read: Date) => isoTime(read.getTime()));
}

export function flag<const Name extends string, Read>(
  name: Name,
  description: string,
  of: (read: Read, whole: Whole) => boolean,
) {
  return shown(name, Type.Boolean({ description }), of);
}

export function itself(read: boolean): boolean {
  return read;
}

export function isSet(read: string | null): boolean {
  return read !== null;
}

/** NULL: chat completions. */
export function endpointView(description: string) {
  const schema = Type.Union(NamedEndpoint.anyOf, { description });
  return shown("endpoint", schema, (read: Endpoint | null) => read ?? "chat");
}
