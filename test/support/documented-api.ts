/** Sends requests to a service and checks its answers against its own OpenAPI document. */
import { expect } from "bun:test";
import { followed, jsonOf, problems, valuesOf, type Json } from "./described.ts";
import type { Operator } from "./operator.ts";

export interface Asked {
  /** The value of the path's parameter, such as `{id}`. */
  /** The path's parameter, or all of them in order. */
  id?: string | readonly string[];
  query?: string;
  body?: unknown;
  accept?: string;
  /** An API key in place of the operator token. */
  key?: string;
  /** A session's cookie in place of the operator token. */
  session?: string;
  headers?: Record<string, string>;
}

export class DocumentedApi {
  /** The operations that were called, such as `post /gpt/v1/chat/completions`. */
  readonly answered = new Set<string>();
  readonly #operator: Operator;
  readonly #url: string;
  readonly #document: Json;

  private constructor({ operator, url, document }: { operator: Operator; url: string; document: Json }) {
    this.#operator = operator;
    this.#url = url;
    this.#document = document;
  }

  static async of({ operator, url }: { operator: Operator; url: string }): Promise<DocumentedApi> {
    const document = jsonOf(await (await operator.send("/openapi.json")).json());
    return new DocumentedApi({ operator, url, document });
  }

  /** Every operation of the document. */
  operations(): string[] {
    return this.paths().flatMap(([path, methods]) => Object.keys(jsonOf(methods)).map((method) => `${method} ${path}`));
  }

  paths(): [string, unknown][] {
    return Object.entries(jsonOf(this.#document["paths"]));
  }

  /** Sends a request, checks the answer against the document for its status and type, and returns it. */
  async ask(operation: string, expected: number, asked: Asked = {}): Promise<Json> {
    const [method = "", path = ""] = operation.split(" ");
    const ids = [asked.id ?? ""].flat();
    const address = path.replace(/\{\w+\}/g, (named) => encodeURIComponent(ids.shift() ?? named));
    const response = await this.#send(method.toUpperCase(), address, asked);
    const text = await response.text();
    expect([operation, response.status, response.status === expected ? "" : text]).toEqual([operation, expected, ""]);
    if (response.ok) this.answered.add(operation);
    const described = jsonOf(jsonOf(jsonOf(jsonOf(this.#document["paths"])[path])[method])["responses"])[String(response.status)];
    const answer = followed(this.#document, described);
    for (const name of [
      "x-generation-id",
      "x-request-id",
      "retry-after-ms",
      "x-ratelimit-limit-requests",
      "x-should-retry",
      "x-ignored-fields",
    ]) {
      if (response.headers.has(name))
        expect([operation, Object.keys(jsonOf(answer["headers"]))]).toEqual([operation, expect.arrayContaining([name])]);
    }
    if (answer["content"] === undefined) {
      expect([operation, text]).toEqual([operation, ""]);
      return {};
    }
    const [type = ""] = (response.headers.get("content-type") ?? "").split(";");
    const content = jsonOf(answer["content"]);
    const { schema } = jsonOf(content[type] ?? content["*/*"]);
    const values = content[type] === undefined ? [text] : valuesOf(type, text);
    for (const value of values) expect(problems(this.#document, schema, value)).toEqual([]);
    const last = values.at(-1);
    return typeof last === "object" ? jsonOf(last) : {};
  }

  #send(
    method: string,
    path: string,
    { query = "", body, accept, key: apiKey, session, headers = {} }: Asked,
  ): Promise<Response> {
    if (session !== undefined) return this.#sendWithSession(method, path + query, { session, body });
    if (apiKey === undefined) return this.#operator.send(path + query, { method, body, ...(accept && { accept }) });
    const content = body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body);
    return fetch(this.#url + path + query, {
      method,
      headers: { ...headers, authorization: `Bearer ${apiKey}` },
      body: content,
    });
  }

  /** As a page of the Console does. */
  #sendWithSession(method: string, path: string, { session, body }: { session: string; body: unknown }): Promise<Response> {
    return fetch(this.#url + path, {
      method,
      headers: { cookie: `weir=${session}`, "sec-fetch-site": "same-origin", "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
  }
}
