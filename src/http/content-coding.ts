/** Whether a body is compressed or otherwise encoded; no API of the service accepts that. */
export function isEncoded(request: Request): boolean {
  const coding = request.headers.get("content-encoding");
  return coding !== null && coding !== "" && coding.toLowerCase() !== "identity";
}
