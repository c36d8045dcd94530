/** Addresses with filters in their query. */

/** @param query values that are empty or undefined are left out */
export function address(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(query).flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : []));
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set)}`;
}
