/** Bytes as PostgreSQL reads them as text, to be cast to `bytea`. */
export function byteaText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")}`;
}
