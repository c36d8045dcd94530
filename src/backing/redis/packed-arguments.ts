/**
 * The arguments of a function that has many: all texts in one, each ended by a zero byte, and all numbers in one, as doubles.
 * An argument for each would cost both sides more than the function's own work.
 */
export interface Packing {
  texts: string[];
  /** Exact up to 2^53. Only limits are above that, which no sum reaches. */
  numbers: number[];
}

/** The numbers begin with the count of texts. Bytes are in the machine's own order, which is that of Redis: little-endian. */
export function packedArguments({ texts, numbers }: Packing): [texts: string, numbers: Buffer] {
  const packed = new Float64Array(1 + numbers.length);
  packed[0] = texts.length;
  packed.set(numbers, 1);
  return [`${texts.join("\0")}\0`, Buffer.from(packed.buffer)];
}
