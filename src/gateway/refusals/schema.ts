/**
 * Views of refused calls: the counts by key and code, and the newest calls with what their callers were told. The descriptions of the
 * fields are those of the OpenAPI description.
 */
import { Type, type Static } from "@sinclair/typebox";
import { text, textOrNull } from "../../http/json-schema.ts";
import { refusingCodes } from "../../kernel/errors.ts";
import { NamedEndpoint } from "../field-parts.ts";
import { refusedDays, refusedKeptMax } from "./limits.ts";

/** Every endpoint that may refuse a call, as lists of refused calls name it. */
export const RefusedEndpoint = Type.Union([
  ...NamedEndpoint.anyOf,
  Type.Literal("count_tokens"),
  Type.Literal("models"),
  Type.Literal("key"),
  Type.Literal("usage"),
  Type.Literal("generation"),
]);
export type RefusedEndpoint = Static<typeof RefusedEndpoint>;

export const RefusedView = Type.Object({
  request_id: text("The id of the refused call; its answer does not have it"),
  workspace_id: text("The workspace whose key or member called"),
  at: text("When it was refused, ISO 8601 in UTC"),
  key_id: textOrNull("The key; null: the Workbench"),
  key_name: textOrNull("The key's present name; null: without a key"),
  member: textOrNull(
    "E-mail address of the member who sent it from the Workbench, or who owns the key; null: the key is unknown",
  ),
  endpoint: Type.Union(RefusedEndpoint.anyOf, {
    description: "The endpoint; `count_tokens` is that of Messages and of Responses",
  }),
  model: textOrNull("The model that the request named; null: none of the catalog, or it was not read yet"),
  status: Type.Integer({ description: "The HTTP status of the answer" }),
  code: text(`The code of the error: ${refusingCodes.join(", ")}`),
  message: text("What the caller was told; texts of the request are left out of it, and `…` is in their place"),
  param: textOrNull("The field at fault; null: none"),
  retry_after_ms: Type.Union([Type.Integer(), Type.Null()], {
    description: "After which wait the caller could try again, in milliseconds; null: the answer named none",
  }),
});
export type RefusedView = Static<typeof RefusedView>;

export const RefusedList = Type.Object({
  data: Type.Array(RefusedView, {
    description: `What was found among the ${refusedKeptMax} newest of the workspace, newest first`,
  }),
});
export type RefusedList = Static<typeof RefusedList>;

const RefusalCounted = Type.Object({
  starts_at: Type.Optional(text("When the minute, hour or day begins, ISO 8601 in UTC")),
  key_id: Type.Optional(textOrNull("The key; null: the Workbench, no key is known, or keys beyond the first of a minute")),
  key_name: Type.Optional(textOrNull("The key's present name, or `Workbench`; null: none is known")),
  member: Type.Optional(textOrNull("The key's owner, or the member in the Workbench; null: none is known")),
  code: text("The code of the error"),
  calls: Type.Integer({ minimum: 0, description: "How many calls were refused" }),
});

export const RefusalCounts = Type.Object({
  from: text(`The beginning of the counted time, ISO 8601 in UTC; counts are kept for ${refusedDays} days`),
  to: text("Its end, which is not part of it"),
  data: Type.Array(RefusalCounted, { description: "The counts, by period and then the most first" }),
  calls: Type.Integer({ minimum: 0, description: "All refused calls of the time, also where `limit` cut rows off" }),
});
export type RefusalCounts = Static<typeof RefusalCounts>;
