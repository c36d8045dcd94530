/** 32 random bytes have fewer different values than this once in 10^28 draws. */
const differentBytesMin = 8;

/** Whether a key was typed rather than drawn: all zeros, one byte or a few again and again, or bytes in steps such as 0, 1, 2, 3. */
export function isGuessableKey(bytes: Uint8Array): boolean {
  const step = (index: number) => ((bytes[index] ?? 0) - (bytes[index - 1] ?? 0)) & 0xff;
  const inSteps = bytes.every((_, index) => index < 2 || step(index) === step(1));
  return inSteps || new Set(bytes).size < differentBytesMin;
}
