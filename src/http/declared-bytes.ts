/** @returns the length of a body as its Content-Length tells it, or null where none is told */
export function declaredBytes(request: Request): number | null {
  const header = request.headers.get("content-length");
  return header !== null && /^\d+$/.test(header) ? Number(header) : null;
}
