/** The error answer of the catalog's paths: a sentence under `detail`, as on all paths without a key. */
import { Type } from "@sinclair/typebox";
import { jsonAnswer } from "../../kernel/json-answer.ts";

export const RefusalBody = Type.Object({
  detail: Type.String({ description: "What went wrong, as a sentence for people" }),
});

export class ConnectorRefusal extends Error {
  override name = "ConnectorRefusal";
  readonly status: 400 | 404 | 405 | 503;
  readonly headers: Record<string, string>;

  constructor(status: 400 | 404 | 405 | 503, detail: string, headers: Record<string, string> = {}) {
    super(detail);
    this.status = status;
    this.headers = headers;
  }
}

export function refusalResponse({ status, message, headers }: ConnectorRefusal): Response {
  return jsonAnswer({ detail: message }, { status, headers: { "cache-control": "no-store", ...headers } });
}
