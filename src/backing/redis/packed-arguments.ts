/**
 * The arguments of a function that takes many: all texts in one, each ended by a zero byte, and all numbers in one, as doubles.
 * One argument for each would cost both sides more than what the function does with them.
 */
export interface Packing {
  texts: string[];
  /** Exact up to 2^53. Above that are only limits, which no sum reaches. */
  numbers: number[];
}

/** The numbers begin with how many texts there are. In the machine's own order of bytes, which is Redis's: the little end first. */
export function packedArguments({ texts, numbers }: Packing): [texts: string, numbers: Buffer] {
  const packed = new Float64Array(1 + numbers.length);
  packed[0] = texts.length;
  packed.set(numbers, 1);
  return [`${texts.join("\0")}\0`, Buffer.from(packed.buffer)];
}
