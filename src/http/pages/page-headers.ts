/** The headers that restrict a page to what it needs. */
import type { Asset } from "./asset.ts";

export interface PagePolicy {
  style: Asset;
  scripts: readonly Asset[];
  /** Whether its forms may be sent to this service; never elsewhere. */
  forms: "self" | "none";
  /** Whether its scripts may ask this service. */
  connects?: boolean;
}

/** https://www.w3.org/TR/CSP3/ */
export function pageHeaders({ style, scripts, forms, connects = false }: PagePolicy): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `style-src ${style.hash}`,
    "img-src data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(scripts.length === 0 ? [] : scriptRules(scripts)),
    ...(connects ? ["connect-src 'self'"] : []),
    `form-action '${forms}'`,
  ];
  return {
    "content-security-policy": policy.join("; "),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
  };
}

/** No script can make text into HTML or code. */
function scriptRules(scripts: readonly Asset[]): string[] {
  return [
    `script-src ${scripts.map(({ hash }) => hash).join(" ")}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
}
