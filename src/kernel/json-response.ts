interface JsonResponseOptions {
  status?: number;
  headers?: Record<string, string>;
}

const noSniff = { "x-content-type-options": "nosniff" };
/** As `Response.json` writes it. */
const written = { "content-type": "application/json;charset=utf-8", ...noSniff };

/** A JSON body that no browser interprets as another type: https://fetch.spec.whatwg.org/#x-content-type-options-header */
export function jsonResponse(body: unknown, { status = 200, headers }: JsonResponseOptions = {}): Response {
  return Response.json(body, { status, headers: { ...noSniff, ...headers } });
}

/** As `jsonResponse`, for a body that is JSON already. */
export function jsonTextResponse(text: string, headers: Record<string, string>): Response {
  return new Response(text, { headers: { ...written, ...headers } });
}
