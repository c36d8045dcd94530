/** Compares `modified` times as the format writes them. A record replaces the stored one only if it is not older. */
export function isNotOlder(times: { candidate: string; stored: string }): boolean {
  return toNanoseconds(times.candidate) >= toNanoseconds(times.stored);
}

/** A sortable text, with a fraction of exactly nine digits. */
function toNanoseconds(time: string): string {
  const [seconds = "", fraction = ""] = time.slice(0, -1).split(".");
  return `${seconds}.${fraction.padEnd(9, "0")}`;
}
