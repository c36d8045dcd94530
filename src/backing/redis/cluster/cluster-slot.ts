/** The slot of a key in a Redis Cluster: CRC16 (XMODEM) of its tag, modulo 16,384. Source: redis.io, cluster specification. */
export const slotCount = 16_384;
const polynomial = 0x1021;

const remainders = Uint16Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte << 8;
  for (let bit = 0; bit < 8; bit++) remainder = (remainder & 0x8000 ? (remainder << 1) ^ polynomial : remainder << 1) & 0xffff;
  return remainder;
});

/** @param tag the text between the braces of the key */
export function clusterSlot(tag: string): number {
  let remainder = 0;
  for (const byte of Buffer.from(tag)) remainder = ((remainder << 8) ^ (remainders[(remainder >> 8) ^ byte] ?? 0)) & 0xffff;
  return remainder % slotCount;
}
