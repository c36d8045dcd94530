/** The sandbox's tokens: one for each started four bytes of UTF-8. */

const bytesPerToken = 4;

export function tokenCount(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/**
 * Cuts a text into its tokens. A character belongs to the token in which its last byte lies: as none has more than four
 * bytes, no token is empty, and the pieces are as many as `tokenCount` says.
 */
export function tokensOf(text: string, tokensMax: number): string[] {
  const tokens: string[] = [];
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    const token = Math.ceil(bytes / bytesPerToken) - 1;
    if (token >= tokensMax) break;
    tokens[token] = (tokens[token] ?? "") + character;
  }
  return tokens;
}
