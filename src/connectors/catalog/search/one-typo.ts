/**
 * Whether two different words are one typo apart: a letter too many, missing or wrong, or two neighbours exchanged
 * (the restricted Damerau-Levenshtein distance of 1).
 */
export function oneTypoApart(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (long.length - short.length > 1 || short === long) return false;
  const first = firstDifference(short, long);
  if (long.length > short.length) return short.slice(first) === long.slice(first + 1);
  if (short.slice(first + 1) === long.slice(first + 1)) return true;
  const exchanged = short[first] === long[first + 1] && short[first + 1] === long[first];
  return exchanged && short.slice(first + 2) === long.slice(first + 2);
}

function firstDifference(short: string, long: string): number {
  let index = 0;
  while (index < short.length && short[index] === long[index]) index++;
  return index;
}
