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
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    const token = Math.ceil(bytes / bytesPerToken) - 1;
    if (token >= tokensMax) break;
    tokens[token] = (tokens[token] ?? "") + character;
  }
  return tokens;
}
