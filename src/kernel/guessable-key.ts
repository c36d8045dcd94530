/** 32 random bytes have fewer distinct values once in 10^28 draws. */
const differentBytesMin = 8;

/** Whether a key was typed and not drawn: all zeros, few repeated bytes, or bytes in steps such as 0, 1, 2, 3. */
export function isGuessableKey(bytes: Uint8Array): boolean {
  const step = (index: number) => ((bytes[index] ?? 0) - (bytes[index - 1] ?? 0)) & 0xff;
  const inSteps = bytes.every((_, index) => index < 2 || step(index) === step(1));
  return inSteps || new Set(bytes).size < differentBytesMin;
}
