/** The addresses of the Console's pages in the sample. */
import type { Page } from "../../../src/console/page.ts";
import type { ConsoleSample } from "./sample.ts";
import { addressOf } from "./history.ts";

const memberPath = `/members/${encodeURIComponent(addressOf("member"))}`;

/** The path of each page whose path has parameters, by its kind and pattern. A test compares it with the table of pages. */
export const samplePaths: Record<string, (sample: ConsoleSample) => string> = {
  "workspace /keys/:id": ({ keys }) => `/keys/${keys.production}`,
  "workspace /keys/:id/revoke": ({ keys }) => `/keys/${keys.production}/revoke`,
  "workspace /models/*id": () => "/models/sandbox/echo",
  "workspace /requests/:id": ({ generations }) => `/requests/${generations.stored}`,
  "workspace /requests/refused/:id": ({ refused }) => `/requests/refused/${refused}`,
  "workspace /requests/:id/delete-prompt": ({ generations }) => `/requests/${generations.stored}/delete-prompt`,
  "workspace /statements/:number": () => `/statements/${new Date().toISOString().slice(0, 7)}`,
  "workspace /projects/:id": ({ security }) => `/projects/${security.project}`,
  "workspace /projects/:id/components": ({ security }) => `/projects/${security.project}/components`,
  "workspace /projects/:id/fixes": ({ security }) => `/projects/${security.project}/fixes`,
  "workspace /projects/:id/sboms": ({ security }) => `/projects/${security.project}/sboms`,
  "workspace /projects/:id/activity": ({ security }) => `/projects/${security.project}/activity`,
  "workspace /projects/:id/move": ({ security }) => `/projects/${security.project}/move`,
  "workspace /projects/:id/vex": ({ security }) => `/projects/${security.project}/vex`,
  "workspace /findings/:id": ({ security }) => `/findings/${security.finding}`,
  "workspace /vulnerabilities/:id": ({ security }) => `/vulnerabilities/${security.cve}`,
  "workspace /products/:id": ({ security }) => `/products/${security.product}`,
  "workspace /tickets/:id": ({ security }) => `/tickets/${security.ticket}`,
  "workspace /connections/:id": ({ connection }) => `/connections/${connection}`,
  "workspace /connections/:id/delete": ({ connection }) => `/connections/${connection}/delete`,
  "workspace /connections/new/:slug": () => "/connections/new/okta",
  "person /connect/:slug": () => "/connect/okta",
  "workspace /members/:id": () => memberPath,
  "workspace /members/:id/invitation": () => `${memberPath}/invitation`,
  "workspace /members/:id/deactivate": () => `${memberPath}/deactivate`,
  "workspace /members/:id/delete": () => `${memberPath}/delete`,
  "workspace /provider-keys/:id": ({ ownKey }) => `/provider-keys/${ownKey}`,
  "workspace /provider-keys/:id/delete": ({ ownKey }) => `/provider-keys/${ownKey}/delete`,
  "workspace /alerts/new/:kind": () => "/alerts/new/key_month",
  "workspace /alerts/rules/:id": ({ rule }) => `/alerts/rules/${rule}`,
  "workspace /alerts/webhooks/new/:format": () => "/alerts/webhooks/new/slack",
  "workspace /alerts/webhooks/:id": ({ webhook }) => `/alerts/webhooks/${webhook}`,
  "workspace /alerts/webhooks/:id/delete": ({ webhook }) => `/alerts/webhooks/${webhook}/delete`,
  "workspace /top-ups/:id": ({ topUp }) => `/top-ups/${topUp}`,
  "operator /providers/:id": () => "/providers/openai",
  "operator /providers/:id/remove": () => "/providers/openai/remove",
  "operator /workspaces/:id": ({ workspace }) => `/workspaces/${workspace}`,
};

/** Queries that a page needs to show something. */
const queries: Record<string, string> = {
  "workspace /models/compare": "?id=openai/gpt-5.4&id=anthropic/claude-opus-5&id=sandbox/echo",
  "workspace /workbench": "?model=sandbox/echo",
  "workspace /components": "?name=lodash",
};

export function nameOf({ of, path }: Pick<Page, "of" | "path">): string {
  return `${of} ${path}`;
}

/** The whole path of a page, such as `/console/w/example/keys`. @throws Error for a page without a sample path */
export function addressIn(sample: ConsoleSample, page: Pick<Page, "of" | "path">): string {
  const name = nameOf(page);
  const of = samplePaths[name];
  if (!of && hasParameters(page)) throw new Error(`test/support/console-sample/paths.ts lacks a path for "${name}"`);
  const path = (of ? of(sample) : page.path.replace(/^\/$/, "")) + (queries[name] ?? "");
  if (page.of === "workspace") return `/console/w/${encodeURIComponent(sample.name)}${path}`;
  return page.of === "operator" ? `/console/operator${path}` : `/console${path}`;
}

/** null: the operator, for pages that members do not see. Otherwise the address of the super admin. */
export function viewerOf({ of, roles }: Pick<Page, "of" | "roles">): string | null {
  return of === "person" || roles.includes("super_admin") ? addressOf("super_admin") : null;
}

export function hasParameters({ path }: Pick<Page, "path">): boolean {
  return /\/[:*]/.test(path);
}
