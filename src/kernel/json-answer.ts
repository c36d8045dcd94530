interface JsonAnswer {
  status?: number;
  headers?: Record<string, string>;
}

/** A JSON body that no browser takes for anything else: https://fetch.spec.whatwg.org/#x-content-type-options-header */
export function jsonAnswer(body: unknown, { status = 200, headers }: JsonAnswer = {}): Response {
  return Response.json(body, { status, headers: { "x-content-type-options": "nosniff", ...headers } });
}
