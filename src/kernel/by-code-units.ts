/** The order of texts by UTF-16 code units: the same in every locale and every process. For `toSorted`. */
export function byCodeUnits(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
