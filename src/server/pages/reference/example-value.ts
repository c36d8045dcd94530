/** A small value that a schema allows, for the examples of the reference. */
import type { Shape } from "./shape.ts";
import { withoutNull } from "./shape.ts";

/** By the names of fields: values that a reader can follow, used where the schema says only `string` or less. */
const known: Record<string, unknown> = {
  model: "sandbox/echo",
  messages: [{ role: "user", content: "Hello, weir" }],
  prompt: "Hello, weir",
  input: "Hello, weir",
  workspace: "default",
  project: "my-project",
  project_id: "my-project",
  product: "my-product",
  name: "my-name",
  email: "someone@example.com",
  owner: "owner@localhost",
  usd: "10.00",
  ref: "invoice-1",
  cve_id: "CVE-2021-44228",
  url: "https://github.com/owner/name",
  connector: "okta",
  provider: "openai",
  key: "PROVIDER_KEY",
  subject: "A question",
  message: "What happened, in words",
  expected_behavior: "What should happen",
  actual_behavior: "What happens instead",
  since: "0",
};

/** An object has its required fields; if there are none and `fills`, its first. */
export function exampleValue(shape: Shape, { name = "", fills = false }: { name?: string; fills?: boolean } = {}): unknown {
  const { words, types, branches, items, fields, numbers } = withoutNull(shape);
  if (Object.hasOwn(known, name) && words.length === 0) return known[name];
  if (words.length > 0) return words[0];
  const [first] = branches;
  if (first !== undefined) return exampleValue(first, { name });
  if (types.includes("array")) return items === null || !(numbers.minItems ?? 0) ? [] : [exampleValue(items)];
  if (types.includes("object")) {
    const required = fields.filter((field) => field.required);
    const shown = required.length === 0 && fills ? fields.slice(0, 1) : required;
    return Object.fromEntries(shown.map((field) => [field.name, exampleValue(field.shape, { name: field.name })]));
  }
  if (types.includes("integer") || types.includes("number")) return numbers.minimum ?? 1;
  return types.includes("boolean") ? true : name.toUpperCase();
}
