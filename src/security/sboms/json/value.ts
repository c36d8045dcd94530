/** JSON values before validation: any value may be anywhere. */
import { isJsonObject } from "../../../http/json-object.ts";

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return isJsonObject(value);
}

/** An own field, never an inherited one. */
export function fieldOf(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** @returns null for a missing or empty text */
export function textOf(object: JsonObject, key: string): string | null {
  const value = fieldOf(object, key);
  return typeof value === "string" && value !== "" ? value : null;
}

export function objectOf(object: JsonObject, key: string): JsonObject | null {
  const value = fieldOf(object, key);
  return isObject(value) ? value : null;
}

/** @returns an empty list if the field is missing */
export function listOf(object: JsonObject, key: string): JsonValue[] {
  const value = fieldOf(object, key);
  return Array.isArray(value) ? value : [];
}

export function objectsOf(object: JsonObject, key: string): JsonObject[] {
  return listOf(object, key).filter(isObject);
}

export function textsOf(object: JsonObject, key: string): string[] {
  return listOf(object, key).filter((value) => typeof value === "string");
}
