/** @returns the Content-Length, or null if there is none */
export function declaredBytes(request: Request): number | null {
  const header = request.headers.get("content-length");
  return header !== null && /^\d+$/.test(header) ? Number(header) : null;
}
