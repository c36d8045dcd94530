/** The addresses at which pages are measured: one table of parameters, and one of filters. A new page of the table needs a row only if it has parameters. */
import { pages } from "../../src/console/pages.ts";
import type { Page } from "../../src/console/page.ts";
import { viewers, workspaceName, modelId, memberEmail, owners, type ViewerName } from "./plan.ts";
import type { SampleIds } from "./samples-store.ts";

export type Visitor = ViewerName | "operator";

export interface Sample {
  /** The page's path, such as `/keys/:id`, with what is filtered. */
  name: string;
  /** Paths with queries, which are used in turn. */
  addresses: string[];
  /** Whether it is a file, for which the bar of pages does not count. */
  isFile: boolean;
}

/** What stands in for the parameter of a page's path. */
const parameters: Record<string, (ids: SampleIds, email: string) => readonly string[]> = {
  "/keys/:id": ({ keys }) => keys,
  "/keys/:id/revoke": ({ keys }) => keys,
  "/requests/:id": ({ generations }) => generations,
  "/requests/:id/delete-prompt": ({ generations }) => generations,
  "/models/*id": () => realModels,
  "/statements/:number": () => [dayBefore(35).slice(0, 7)],
  "/projects/:id": ({ projects }) => projects,
  "/projects/:id/components": ({ projects }) => projects,
  "/projects/:id/fixes": ({ projects }) => projects,
  "/projects/:id/sboms": ({ projects }) => projects,
  "/projects/:id/activity": ({ projects }) => projects,
  "/projects/:id/vex": ({ projects }) => projects,
  "/projects/:id/move": ({ projects }) => projects,
  "/findings/:id": ({ findings }) => findings,
  "/vulnerabilities/:id": ({ vulnerabilities }) => vulnerabilities,
  "/products/:id": ({ products }) => products,
  "/tickets/:id": ({ tickets }) => tickets,
  "/connections/:id": ({ connections }) => connections,
  "/connections/:id/delete": ({ connections }) => connections,
  "/connections/new/:slug": () => connectorSlugs,
  "/connect/:slug": () => connectorSlugs,
  "/members/:id": (_, email) => [email],
  "/members/:id/invitation": () => [memberEmail(1), memberEmail(2)],
  "/members/:id/deactivate": () => [memberEmail(1), memberEmail(2)],
  "/members/:id/delete": () => [memberEmail(1), memberEmail(2)],
  "/providers/:id": () => ["openai", "anthropic"],
  "/providers/:id/remove": () => ["openai", "anthropic"],
  "/provider-keys/:id": ({ providerKeys }) => providerKeys,
  "/provider-keys/:id/delete": ({ providerKeys }) => providerKeys,
  "/top-ups/:id": ({ topUps }) => topUps,
  "/alerts/new/:kind": () => ["balance", "usage_day"],
  "/alerts/rules/:id": ({ alertRules }) => alertRules,
  "/requests/refused/:id": ({ refusals }) => refusals,
  "/alerts/webhooks/new/:format": () => ["weir", "slack"],
  "/alerts/webhooks/:id": ({ alertWebhooks }) => alertWebhooks,
  "/alerts/webhooks/:id/delete": ({ alertWebhooks }) => alertWebhooks,
  "/workspaces/:id": () => [workspaceName(0), workspaceName(1)],
};

const realModels = ["openai/gpt-5.1", "openai/gpt-4.1-mini"];
const connectorSlugs = ["1password", "360learning"];

type Filters = Record<string, (ids: SampleIds) => Record<string, string>[]>;

/** The filters of a page's path, by their names. */
const filters: Record<string, Filters> = {
  "/keys": { revoked: () => [{ tab: "revoked" }] },
  "/requests": {
    key: ({ keys }) => keys.map((key) => ({ key })),
    member: () => Array.from({ length: owners }, (_, n) => ({ member: memberEmail(n) })),
    "common model": () => [{ model: modelId(0) }, { model: modelId(1) }],
    "rare model": () => [{ model: modelId(18) }, { model: modelId(19) }],
    failed: () => [{ status: "error" }],
    code: () => [{ code: "upstream_error" }],
    "code that none has": () => [{ code: "gateway_disabled" }],
    "member and code that none has": () => [{ member: memberEmail(0), code: "gateway_disabled" }],
    time: () => [{ from: dayBefore(20), to: dayBefore(10) }],
    "time and failed": () => [{ from: dayBefore(20), to: dayBefore(10), status: "error" }],
    "older page": ({ generations }) => generations.map((before) => ({ before })),
    CSV: () => [{ as: "csv" }],
  },
  "/spend": {
    "by member": () => [{ by: "member" }],
    "by model": () => [{ by: "model" }],
    "by provider": () => [{ by: "provider" }],
    "last month": () => [{ month: dayBefore(29).slice(0, 7) }],
    "days of another zone": () => [{ tz: "Asia/Kathmandu" }],
    CSV: () => [{ as: "csv" }],
  },
  "/findings": {
    severity: () => ["critical", "high", "medium", "low"].map((severity) => ({ severity })),
    status: () => ["resolved", "ignored", "false_positive", "all"].map((status) => ({ status })),
    project: ({ projects }) => projects.map((project) => ({ project })),
    product: ({ products }) => products.map((product) => ({ product })),
    text: () => [{ text: "library-12" }, { text: "scope" }],
    "text that none has": () => [{ text: "nothing-like-this" }],
    CVE: ({ vulnerabilities }) => vulnerabilities.map((text) => ({ text })),
    ecosystem: () => ["pypi", "go"].map((ecosystem) => ({ ecosystem })),
    "with a fix": () => [{ fixable: "true" }],
    exploited: () => [{ exploited: "true" }],
    "likely exploited": () => [{ view: "exploit" }],
    "by package": () => [{ view: "package" }],
    "by vulnerability": () => [{ view: "vulnerability" }],
    "later page": ({ findings }) => findings.map((after) => ({ after })),
    CSV: () => [{ as: "csv" }],
  },
  "/vulnerabilities": {
    severity: () => ["critical", "low"].map((severity) => ({ severity })),
    ecosystem: () => ["pypi", "go"].map((ecosystem) => ({ ecosystem })),
  },
  "/projects": { text: () => [{ text: "Project 1" }, { text: "99" }] },
  "/tickets": { status: () => [{ status: "open" }, { status: "closed" }] },
  "/audit": {
    event: () => [{ event: "key.revoked" }],
    actor: () => [{ actor: memberEmail(3) }],
    "actor that none is": () => [{ actor: "nobody@bench.test" }],
    time: () => [{ from: dayBefore(20), to: dayBefore(10) }],
    CSV: () => [{ as: "csv" }],
  },
};

/** Auditors and the operator read as admins do. */
const filtersBy: readonly Visitor[] = ["admin", "member"];

function dayBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

/** @returns the samples of all pages that the visitor may see, and the paths of pages whose parameter has no row above */
export function samplesOf(visitor: Visitor, ids: SampleIds): { samples: Sample[]; missing: string[] } {
  const email = visitor === "operator" ? memberEmail(0) : viewers[visitor].email;
  const samples: Sample[] = [];
  const missing: string[] = [];
  for (const page of pages.filter((one) => isSeenBy(visitor, one))) {
    const paths = pathsOf(page, ids, email);
    if (paths.length === 0) missing.push(page.path);
    else samples.push({ name: nameOf(page), addresses: paths, isFile: false });
    if (filtersBy.includes(visitor)) samples.push(...filteredOf(page, paths[0] ?? "", ids));
  }
  return { samples, missing };
}

function nameOf({ of, path }: Page): string {
  return of === "operator" ? `/operator${path === "/" ? "" : path}` : path;
}

function isSeenBy(visitor: Visitor, { of, roles }: Page): boolean {
  if (of === "person") return true;
  // The operator sees the pages of a workspace as its admins do, and those that no role may see.
  if (visitor === "operator") return of === "operator" || roles.length === 0;
  return of === "workspace" && roles.includes(viewers[visitor].role);
}

function pathsOf({ of, path }: Page, ids: SampleIds, email: string): string[] {
  const base = of === "workspace" ? `/console/w/${workspaceName(0)}` : of === "operator" ? "/console/operator" : "/console";
  const named = /[:*]\w+/.exec(path)?.[0];
  const values = named === undefined ? [""] : (parameters[path]?.(ids, email) ?? []);
  return values.map((value) => {
    const written = named?.startsWith("*") ? encodeURI(value) : encodeURIComponent(value);
    return (base + path.replace(/[:*]\w+/, written)).replace(/\/$/, "");
  });
}

function filteredOf({ of, path }: Page, address: string, ids: SampleIds): Sample[] {
  const found = of === "workspace" ? Object.entries(filters[path] ?? {}) : [];
  return found.map(([name, queries]) => ({
    name: `${path}, ${name}`,
    addresses: queries(ids).map((query) => `${address}?${new URLSearchParams(query)}`),
    isFile: name === "CSV",
  }));
}
