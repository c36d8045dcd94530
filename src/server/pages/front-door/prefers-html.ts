/** Whether a request is a person's: its `Accept` names HTML, and nothing that programs read before it (RFC 9110, 12.5.1). */

/** Wildcards do not count: programs send them, or no header at all. */
export function prefersHtml(accept: string | null): boolean {
  const ranges = (accept ?? "").toLowerCase().split(",").map(weighted);
  const weightOf = (type: string): number => ranges.find((range) => range.type === type)?.weight ?? 0;
  const html = weightOf("text/html");
  const json = weightOf("application/json");
  if (html !== json) return html > json;
  return (
    html > 0 && ranges.findIndex(({ type }) => type === "text/html") < ranges.findIndex(({ type }) => type === "application/json")
  );
}

function weighted(range: string): { type: string; weight: number } {
  const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
  const [weight = 1] = parameters.filter((one) => one.startsWith("q=")).map((one) => Number(one.slice(2)));
  return { type, weight: weight >= 0 && weight <= 1 ? weight : 0 };
}
