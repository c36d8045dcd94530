/**
 * The facts of a model as all pages of models show them: prices, limits, measured speed, and whether it can be called here and why not. A
 * figure that was not measured is shown as none, never as zero.
 */
import type { ModelDetails, RouteDetails } from "../../../gateway/models/listing.ts";
import type { UnavailableReason } from "../../../gateway/models/model.ts";
import { markup, type Html } from "../../../http/html.ts";
import { badge, copyButton, money, day } from "../../look/parts.ts";
import type { PageCall } from "../../page.ts";

/** Slashes stay: the page takes the rest of the path. */
export function modelPath({ id }: Pick<ModelDetails, "id">): string {
  return `/models/${id.split("/").map(encodeURIComponent).join("/")}`;
}

export function comparePath(ids: readonly string[]): string {
  return `/models/compare?${new URLSearchParams(ids.map((id): [string, string] => ["id", id]))}`;
}

/** @returns whether the viewer can try the model in the Workbench, which requires a role that may spend credit */
export function mayTry({ workspace: { role } }: PageCall, { kind, runnable }: Pick<ModelDetails, "kind" | "runnable">): boolean {
  return runnable && kind === undefined && role !== "auditor" && role !== "operator";
}

const words = { available: "not callable", request_access: "on request", coming_soon: "coming soon" } as const;

/** What a model lacks, where somebody can give it. */
const lacks: Partial<Record<UnavailableReason, string>> = {
  provider_not_configured: "needs a key",
  terms_not_checked: "terms not read",
  provider_disabled: "provider disabled",
  launch_check_missing: "being checked",
  launch_check_failed: "failed its check",
};

type Judged = Pick<ModelDetails, "runnable" | "availability" | "unavailable_reason">;

export function stateBadge({ runnable, availability, unavailable_reason: why }: Judged): Html {
  if (runnable) return badge("good", "callable");
  return badge(availability === "available" ? "warn" : "neutral", (why && lacks[why]) ?? words[availability]);
}

/** With the reason in words, if the badge does not say it. */
export function state(model: Judged & Pick<ModelDetails, "unavailable_message">): Html {
  const isSaid = model.unavailable_reason !== null && lacks[model.unavailable_reason] !== undefined;
  return markup`${stateBadge(model)}${isSaid ? null : reason(model)}`;
}

export function routeState({ runnable, unavailable_message: message }: RouteDetails): Html {
  return markup`${runnable ? badge("good", "available") : badge("neutral", "not available")}${reason({ unavailable_message: message })}`;
}

function reason({ unavailable_message: message }: Pick<ModelDetails, "unavailable_message">): Html | null {
  return message === null ? null : markup`<span class="under">${message}</span>`;
}

type PriceName = "input" | "output" | "cache_read" | "cache_write";
type Priced = Pick<ModelDetails, "prices_per_1m_usd" | "tiers">;

/** With the price of each tier below it. */
export function price({ prices_per_1m_usd: prices, tiers = [] }: Priced, name: PriceName): Html | null {
  if (prices === null) return null;
  const further = tiers.map(
    (tier) => markup`<span class="under">${money(tier[name])} above ${tokens(tier.above_input_tokens)}</span>`,
  );
  return markup`${money(prices[name])}${further}`;
}

/** With the price of the last tier in a line below: a list has no room for all. */
export function shortPrice({ prices_per_1m_usd: prices, tiers = [] }: Priced, name: PriceName): Html | null {
  if (prices === null) return null;
  const last = tiers.at(-1);
  const highest = last && markup`<span class="under">to ${money(last[name])}</span>`;
  return markup`${money(prices[name])}${highest ?? null}`;
}

/** Tokens in thousands or millions, with the exact number in the title. */
export function tokens(count: number): Html {
  return markup`<data value="${count}" title="${count.toLocaleString("en-US")} tokens">${shortTokens(count)}</data>`;
}

/** Such as `850`, `128K` or `1.05M`. */
export function shortTokens(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 999_500) return `${Math.round(count / 1_000)}K`;
  return `${Number((count / 1_000_000).toFixed(2))}M`;
}

export function context({ context_length: count }: Pick<ModelDetails, "context_length">): Html | null {
  return count === null ? null : tokens(count);
}

export function latency({ latency_ms: ms }: Pick<ModelDetails, "latency_ms">): string | null {
  return ms === null ? null : `${Math.round(ms).toLocaleString("en-US")} ms`;
}

export function uptime({ uptime_percent: percent }: Pick<ModelDetails, "uptime_percent">): string | null {
  return percent === null ? null : `${Number(percent.toFixed(2))} %`;
}

/** null: not known. */
export function released({ created }: Pick<ModelDetails, "created">): string | null {
  return created === 0 ? null : day(new Date(created * 1_000).toISOString());
}

export function idWithCopy(id: string): Html {
  return markup`<code id="model-id">${id}</code> ${copyButton({ copies: "model-id", label: "Copy", what: "model id" })}`;
}
