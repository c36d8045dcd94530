/** A record replaces a stored one only when its `modified` is not older; both as the format writes times. */
export function isNotOlder(times: { candidate: string; stored: string }): boolean {
  return toNanoseconds(times.candidate) >= toNanoseconds(times.stored);
}

/** Sortable text: a fraction of nine digits in place of none to nine. */
function toNanoseconds(time: string): string {
  const [seconds = "", fraction = ""] = time.slice(0, -1).split(".");
  return `${seconds}.${fraction.padEnd(9, "0")}`;
}
