/**
 * Creates, parses and masks ids and keys; only this module knows their formats. Ids sort by time of creation: 45 bits of time, then 85
 * random bits, in base 32. Keys are random, shown once and stored as their hash. The random bits of ids may come from a seed, so that a run
 * can be repeated; those of keys never do.
 */
import { hash, randomBytes, randomFillSync } from "node:crypto";

/** Base 32 in ASCII order, so that ids sort by time of creation. */
const alphabet = "234567abcdefghijklmnopqrstuvwxyz";
const timeDigits = 9;
const randomDigits = 17;

export type GenerationId = string;
export type WorkspaceId = string;
/** The id of a key; as a request's caller, also the caller id of a member (see `isMemberCaller`). */
export type KeyId = string;

/** `gen-` and 26 characters of a-z and 2-7: 45 bits of time, 85 random bits. */
export function newGenerationId(nowMs: number): GenerationId {
  return `gen-${timeSortedText(nowMs)}`;
}

/** The internal audit id of `X-Request-Id`. A request has it from the same millisecond as its generation, which is found by it. */
export function newRequestId(nowMs: number): string {
  return `req-${timeSortedText(nowMs)}`;
}

/** The beginning of all request ids of this millisecond: no id of it or of a later one is less. */
export function firstRequestId(nowMs: number): string {
  return `req-${timeText(nowMs)}`;
}

export function newWorkspaceId(nowMs: number): WorkspaceId {
  return `ws-${timeSortedText(nowMs)}`;
}

export function newKeyId(nowMs: number): KeyId {
  return `key-${timeSortedText(nowMs)}`;
}

/**
 * Whether the caller of a request is a member in the Workbench, not a key. A member's caller id is `mbr-` and 26 characters, which the
 * database generates.
 */
export function isMemberCaller(caller: KeyId): boolean {
  return caller.startsWith("mbr-");
}

/** What messages call a caller. */
export function callerWord(caller: KeyId): "key" | "member" {
  return isMemberCaller(caller) ? "member" : "key";
}

export function newConnectionId(nowMs: number): string {
  return `con-${timeSortedText(nowMs)}`;
}

export function newSessionId(nowMs: number): string {
  return `ses-${timeSortedText(nowMs)}`;
}

export function newSavedViewId(nowMs: number): string {
  return `view-${timeSortedText(nowMs)}`;
}

export function newOwnKeyId(nowMs: number): string {
  return `own-${timeSortedText(nowMs)}`;
}

export function newTopUpId(nowMs: number): string {
  return `top-${timeSortedText(nowMs)}`;
}

export function newRefundId(nowMs: number): string {
  return `rfd-${timeSortedText(nowMs)}`;
}

/** Ids of alerts, of their rules and of the webhooks that get them. */
export function newAlertsId(kind: "alert" | "rule" | "hook", nowMs: number): string {
  return `${kind}-${timeSortedText(nowMs)}`;
}

/** The beginning of all alert ids of this millisecond. */
export function firstAlertId(nowMs: number): string {
  return `alert-${timeText(nowMs)}`;
}

/** Ids of the tools API: a prefix such as `tkt_` and 26 characters. */
export function newToolsId(kind: "tkt" | "att" | "prd" | "prj" | "sbom" | "fnd", nowMs: number): string {
  return `${kind}_${timeSortedText(nowMs)}`;
}

/** Whether a text has the form of such an id, and so is not accepted as a name. */
export function isToolsId(kind: "prd" | "prj" | "fnd", text: string): boolean {
  return text.startsWith(`${kind}_`) && /^[2-7a-z]{26}$/.test(text.slice(kind.length + 1));
}

/** An id for a batch, a process or a heartbeat; unique, not shown to users. */
export function newInternalId(nowMs: number): string {
  return timeSortedText(nowMs);
}

/** The bytes of the last id: decoding them costs less than joining parts of a text. */
const lastDigits = Buffer.alloc(timeDigits + randomDigits);
const alphabetBytes = Buffer.from(alphabet, "latin1");
/** The time whose digits are in `lastDigits`. */
let lastDigitsMs = -1;

function timeSortedText(nowMs: number): string {
  if (lastDigitsMs !== nowMs) {
    lastDigits.write(timeText(nowMs), "latin1");
    lastDigitsMs = nowMs;
  }
  for (let at = timeDigits; at < lastDigits.length; at += 2) {
    const chance = randomUnit();
    lastDigits[at] = alphabetBytes[(chance >> 5) & 31] ?? 0;
    if (at + 1 < lastDigits.length) lastDigits[at + 1] = alphabetBytes[chance & 31] ?? 0;
  }
  return lastDigits.toString("latin1");
}

/** The beginning of all generation ids of this millisecond: no id of it or of a later one is less. */
export function firstGenerationId(nowMs: number): GenerationId {
  return `gen-${timeText(nowMs)}`;
}

/** The time at which an id was created, in milliseconds. @param id its prefix, a hyphen and 26 characters */
export function timeOfId(id: string): number {
  const start = id.indexOf("-") + 1;
  let ms = 0;
  for (let digit = 0; digit < timeDigits; digit++) ms = ms * 32 + alphabet.indexOf(id[start + digit] ?? "");
  return ms;
}

/** Cached: many ids are created in one millisecond. */
let lastTime = { ms: -1, text: "" };

function timeText(nowMs: number): string {
  if (lastTime.ms === nowMs) return lastTime.text;
  let text = "";
  let rest = nowMs;
  for (let digit = 0; digit < timeDigits; digit++) {
    text = (alphabet[rest % 32] ?? "2") + text;
    rest = Math.floor(rest / 32);
  }
  lastTime = { ms: nowMs, text };
  return text;
}

/** A random number has ten bits for two digits. */
const randomPairs = Math.ceil(randomDigits / 2);

/** Random numbers are drawn in advance: a system call for each id costs more than the rest of its creation. */
const chances = new Uint16Array(randomPairs * 256);
let drawn = chances.length;
let fill: (chances: Uint16Array) => void = randomFillSync;

/** For a repeatable run: from now on ids take their random bits from `source`. Keys never do. */
export function drawIdsFrom(source: (chances: Uint16Array) => void): void {
  fill = source;
  drawn = chances.length;
  lastTime = { ms: -1, text: "" };
}

function randomUnit(): number {
  if (drawn === chances.length) {
    fill(chances);
    drawn = 0;
  }
  return chances[drawn++] ?? 0;
}

/** A new API key; `full` is shown once and never stored. */
export interface MintedKey {
  full: string;
  /** SHA-256 of the full key, 64 hex digits. */
  hash: string;
  /** Prefix and eight characters. */
  start: string;
  lastFour: string;
}

/** The part of a key's prefix after the service's name; it distinguishes the two kinds. */
const kindWords = { inference: "api", tools: "mcp" } as const;

export function keyPrefix(slug: string, kind: keyof typeof kindWords = "inference"): string {
  return `${slug}-${kindWords[kind]}-`;
}

export function mintKey(slug: string, kind: keyof typeof kindWords = "inference"): MintedKey {
  const prefix = keyPrefix(slug, kind);
  const full = prefix + randomBytes(32).toString("hex");
  return { full, hash: hashKey(full), start: full.slice(0, prefix.length + 8), lastFour: full.slice(-4) };
}

export function hashKey(full: string): string {
  return hash("sha256", full, "hex");
}

/** Start, ellipsis, last four characters; a key that was stored without its end shows only its start. */
export function maskKey(start: string, lastFour: string | null): string {
  return lastFour === null ? start : `${start}…${lastFour}`;
}
