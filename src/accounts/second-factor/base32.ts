const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Base 32 of RFC 4648 without padding, the form in which apps take secrets. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(held >> bits) & 31] ?? "";
    }
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + (alphabet[(held << (5 - bits)) & 31] ?? "");
}
