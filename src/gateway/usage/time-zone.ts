/** Days, months and hours as the clocks of a place show them, by the runtime's IANA time zones. */

const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws RangeError for a name that is no time zone */
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    const fields = {
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    } as const;
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "iso8601",
      numberingSystem: "latn",
      hourCycle: "h23",
      ...fields,
    });
    if (formats.size >= zonesKept) formats.clear();
    formats.set(zone, format);
  }
  return format;
}

/** Callers choose the names, so that a bound is needed. */
const zonesKept = 600;

/** Whether the runtime knows it, such as `Europe/Berlin`. Offsets such as `+02:00` are none: they have no daylight saving. */
export function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone)) return false;
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** What clocks in the zone show, as the time in UTC that has the same digits. */
export function localTime(ms: number, zone: string): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
}

const dayMs = 86_400_000;

/**
 * When clocks in the zone show this time first. Where they skip it, when they do: the time after the skip.
 * @param local as the time in UTC that has the same digits
 */
export function instantOf(local: number, zone: string): number {
  const offsets = [local - dayMs, local + dayMs].map((near) => localTime(near, zone) - near);
  const instants = offsets.map((offset) => local - offset).toSorted((a, b) => a - b);
  return instants.find((instant) => localTime(instant, zone) === local) ?? Math.max(...instants);
}
