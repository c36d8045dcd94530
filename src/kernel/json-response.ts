interface JsonResponseOptions {
  status?: number;
  headers?: Record<string, string>;
}

/** A JSON body that no browser interprets as another type: https://fetch.spec.whatwg.org/#x-content-type-options-header */
export function jsonResponse(body: unknown, { status = 200, headers }: JsonResponseOptions = {}): Response {
  return Response.json(body, { status, headers: { "x-content-type-options": "nosniff", ...headers } });
}
