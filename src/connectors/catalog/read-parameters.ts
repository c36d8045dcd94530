/**
 * Parses the parameters of the catalog's paths. An unknown, repeated or out-of-range parameter is refused by name, since a mistyped
 * filter would otherwise return everything.
 */
import { nearest } from "../../kernel/text.ts";
import { listRowsMax } from "../../http/limits.ts";
import type { Filters } from "./find.ts";
import { DomainError } from "../../accounts/errors.ts";
import { methods } from "./files/schema.ts";

export interface ListQuery extends Filters {
  limit: number;
  offset: number;
}

/** The query of the catalog page. */
export interface PageQuery extends Filters {
  /** Counted from 1. */
  page: number;
}

const filterParameters = ["category", "method", "testable", "q"];
const rowsDefault = 50;
const offsetMax = 1_000_000;
const pageMax = 1_000;
export const queryCharactersMax = 200;

/** @throws DomainError invalid_field */
export function readListQuery(query: URLSearchParams, categories: readonly string[]): ListQuery {
  const given = readParameters(query, [...filterParameters, "limit", "offset"]);
  return {
    ...readFilters(given, categories),
    limit: readNumber("limit", given.get("limit"), { fallback: rowsDefault, min: 1, max: listRowsMax }),
    offset: readNumber("offset", given.get("offset"), { fallback: 0, min: 0, max: offsetMax }),
  };
}

/** @throws DomainError invalid_field */
export function readPageQuery(query: URLSearchParams, categories: readonly string[]): PageQuery {
  const given = readParameters(query, [...filterParameters, "page"]);
  return {
    ...readFilters(given, categories),
    page: readNumber("page", given.get("page"), { fallback: 1, min: 1, max: pageMax }),
  };
}

/** @throws DomainError invalid_field */
export function readSince(query: URLSearchParams): string {
  const since = readParameters(query, ["since"]).get("since");
  if (since === undefined || since === "") {
    throw refused("since", "is missing", "the version that you have, or 0 for everything, is needed");
  }
  return since;
}

/** Validates paths without parameters. @throws DomainError invalid_field */
export function refuseParameters(query: URLSearchParams): void {
  readParameters(query, []);
}

function readParameters(query: URLSearchParams, known: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of query) {
    if (!known.includes(name)) {
      const candidate = nearest(name, known);
      const hint = candidate === undefined ? "this path takes none" : `the nearest known parameter is "${candidate}"`;
      throw new DomainError("invalid_field", `There is no parameter "${name.slice(0, 100)}": ${hint}`);
    }
    if (given.has(name)) throw refused(name, "is repeated", "send it once");
    given.set(name, value);
  }
  return given;
}

function refused(name: string, is: string, needed: string): DomainError {
  return new DomainError("invalid_field", `The parameter "${name}" ${is}: ${needed}`);
}

function readFilters(given: Map<string, string>, categories: readonly string[]): Filters {
  return {
    category: readWord("category", given.get("category"), categories),
    method: readWord("method", given.get("method"), methods),
    testable: readWord("testable", given.get("testable"), ["yes"]) !== null,
    q: readText("q", given.get("q") ?? ""),
  };
}

/** An empty text, as forms send it, is not a filter. */
function readWord<Word extends string>(name: string, given: string | undefined, words: readonly Word[]): Word | null {
  if (given === undefined || given === "") return null;
  const word = words.find((one) => one === given);
  if (word !== undefined) return word;
  throw refused(name, `is "${given.slice(0, 100)}"`, `one of ${words.map((one) => `"${one}"`).join(", ")} is needed`);
}

function readText(name: string, given: string): string {
  if (given.length <= queryCharactersMax) return given;
  const needed = `a text of at most ${queryCharactersMax} characters is needed`;
  throw refused(name, `is a text of ${given.length} characters`, needed);
}

function readNumber(
  name: string,
  given: string | undefined,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number {
  if (given === undefined) return fallback;
  const number = Number(given);
  if (/^\d{1,9}$/.test(given) && number >= min && number <= max) return number;
  throw refused(name, `is "${given.slice(0, 100)}"`, `a whole number from ${min} to ${max} is needed`);
}
