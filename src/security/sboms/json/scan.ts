/**
 * Scans the bytes of a JSON text before it is parsed, with memory proportional to its depth. Parsing cost depends on values and
 * nesting, not on bytes, so both are limited here. It also finds duplicate keys, of which JSON.parse silently keeps the last
 * while other parsers keep the first.
 */
import { closeBrace, closeBracket, comma, openBrace, openBracket, quote } from "../../../http/json-bytes.ts";
import { JsonTokens, noToken } from "../../../http/json-tokens.ts";
import { sbomDepthMax, sbomFieldsMax, sbomValuesMax } from "../../limits.ts";
import { SbomRefusal } from "../refusal.ts";
import { ObjectKeys } from "./object-keys.ts";

export interface JsonBounds {
  depthMax: number;
  valuesMax: number;
  /** Of one object. */
  fieldsMax: number;
}

export const sbomJsonBounds: JsonBounds = { depthMax: sbomDepthMax, valuesMax: sbomValuesMax, fieldsMax: sbomFieldsMax };

/**
 * Ignores other faults, which the parser refuses.
 * @returns false if the text ends within a string, list or object
 * @throws SbomRefusal too_large beyond the depth or number of values, malformed at a duplicate key or `__proto__`
 */
export function scanJson(bytes: Uint8Array, { depthMax, valuesMax, fieldsMax }: JsonBounds): boolean {
  const tokens = new JsonTokens(bytes);
  const keys = new ObjectKeys(bytes, fieldsMax);
  const isObject = new Uint8Array(depthMax + 1);
  let depth = 0;
  let values = 1;
  let keyNext = false;
  for (let token = tokens.next(); token !== noToken; token = tokens.next()) {
    if (token === quote) {
      if (tokens.isCut) return false;
      if (keyNext) keys.add(depth, tokens.start, tokens.end - 1);
      keyNext = false;
    } else if (token === comma) {
      countValue(++values, valuesMax);
      keyNext = isObject[depth] === 1;
    } else if (token === openBrace || token === openBracket) {
      if (++depth > depthMax) throw new SbomRefusal("too_large", `The document is nested deeper than ${depthMax} levels`);
      countValue(++values, valuesMax);
      keyNext = token === openBrace;
      isObject[depth] = keyNext ? 1 : 0;
      if (keyNext) keys.open(depth);
    } else if (token === closeBrace || token === closeBracket) {
      if (depth > 0) depth--;
      keyNext = false;
    }
  }
  return depth === 0;
}

function countValue(values: number, max: number): void {
  if (values > max) throw new SbomRefusal("too_large", `The document holds more than ${max} JSON values`);
}
