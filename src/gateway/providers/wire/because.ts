/** The refusal of a field that a wire format cannot express, before credit is reserved. */
import type { UnsupportedField } from "../provider.ts";

/** @param what the part of the field that is unsupported; absent for the whole field */
export function because(param: string, what?: string): UnsupportedField {
  return { param, message: `The model does not support ${param}${what === undefined ? "" : `: ${what}`}` };
}
