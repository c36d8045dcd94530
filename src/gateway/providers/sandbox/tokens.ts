/** The sandbox's tokens: one for each started four bytes of UTF-8. */

const bytesPerToken = 4;

export function tokenCount(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/**
 * Splits a text into its tokens. A character belongs to the token that contains its last byte. Since no character has more than
 * four bytes, no token is empty, and there are as many pieces as `tokenCount` returns.
 */
export function tokensOf(text: string, tokensMax: number): string[] {
  const tokens: string[] = [];
  let [bytes, from, at] = [0, 0, 0];
  while (at < text.length) {
    const code = text.codePointAt(at) ?? 0;
    const next = bytes + bytesOf(code);
    const isNew = at > from && Math.ceil(next / bytesPerToken) > Math.ceil(bytes / bytesPerToken);
    if (isNew) {
      tokens.push(text.slice(from, at));
      from = at;
    }
    if (tokens.length >= tokensMax) return tokens;
    bytes = next;
    at += code > 0xff_ff ? 2 : 1;
  }
  if (at > from) tokens.push(text.slice(from));
  return tokens;
}

/** In UTF-8. Half a surrogate pair is written as the character that replaces it, which has three. */
function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x8_00) return 2;
  return code > 0xff_ff ? 4 : 3;
}
