/** Waits until nothing is under way any more, and says what still is when it does not end. */
import type { Customer } from "../load/customers.ts";
import { Control } from "../world/control.ts";
import type { Site } from "../world/site.ts";
import type { Violation } from "./violation.ts";

const quietMsMax = 45_000;
const lookMs = 250;
const owed = ["weir_generations_open", "weir_generations_unsettled", "weir_admissions_unknown"];

/** @returns what was still under way after 45 s: each is a violation */
export async function untilQuiet(site: Site, customers: Customer[]): Promise<{ quietMs: number; left: Violation[] }> {
  const startedAt = performance.now();
  for (;;) {
    const left = await whatIsLeft(site, customers).catch((error: unknown) => [String(error)]);
    const quietMs = performance.now() - startedAt;
    if (left.length === 0 || quietMs > quietMsMax) return { quietMs, left: left.map(asViolation) };
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

function asViolation(detail: string): Violation {
  return { rule: "something is still under way when all is healed", detail, generation: null, at: null };
}

async function whatIsLeft(site: Site, customers: Customer[]): Promise<string[]> {
  const control = new Control(site);
  const accounts = customers.map(async ({ workspace, kind }) => {
    const { balance_usd, reserved_usd, available_usd } = await control.any((operator) => operator.show(workspace));
    const isQuiet = Number(reserved_usd ?? NaN) === 0 && available_usd === balance_usd;
    return isQuiet
      ? []
      : [`workspace ${workspace} (${kind}): ${balance_usd}, ${reserved_usd} reserved, ${available_usd} available`];
  });
  const gateways = site.gateways.map(async ({ url }) => {
    const metrics = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5_000) })).text();
    return owed.flatMap((name) => {
      const value = new RegExp(`^${name} (\\S+)$`, "m").exec(metrics)?.[1];
      return value === "0" ? [] : [`${url}: ${name} ${value}`];
    });
  });
  return (await Promise.all([...accounts, ...gateways])).flat();
}
