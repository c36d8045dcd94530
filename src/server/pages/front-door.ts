/**
 * The front door: what this service is, whether it works, and where to begin; and the page of an unknown path. People get the page at `/`;
 * programs get the answer of an unknown path. A request is a person's if its `Accept` names HTML, and no format for programs before it
 * (RFC 9110, 12.5.1). Wildcards do not count, since programs send them.
 *
 * It says which parts work, but never why one does not: only the operator sees causes.
 */
import { copyButton } from "../../console/look/parts.ts";
import { inferencePrefix, notFound } from "../../gateway/api/routes.ts";
import type { UnavailableReason, Model } from "../../gateway/models/model.ts";
import type { Models } from "../../gateway/models/models.ts";
import { fontCredit } from "../../http/font.ts";
import { markup, type Html } from "../../http/html.ts";
import { pageDocument, htmlType, iconSvg, pageHeaders } from "../../http/page.ts";
import { requestTarget, Router, type Routes } from "../../http/router.ts";
import type { Clock } from "../../kernel/clock.ts";
import { keyPrefix } from "../../kernel/ids.ts";
import { healthKeptMs } from "../../process/limits.ts";
import { memoizeFor } from "../../process/memoize-for.ts";
import { mcpPath } from "../../security/api/operations.ts";
import { connectorsPath, consolePath, copyScript, referencePath, siteHeader, siteStyle, joined, serviceOrigin } from "./site.ts";

const frontDoorStyle = siteStyle(new URL("front-door.css", import.meta.url));

/** The state of the service without causes. */
interface Readiness {
  ready: boolean;
  dependencies: Record<string, string>;
}

/** What a reason means, for one model and for several. */
const missing: Record<UnavailableReason, { one: string; many: string }> = {
  provider_disabled: { one: "has a disabled provider", many: "have a disabled provider" },
  provider_not_configured: { one: "needs its provider's key", many: "need a provider's key" },
  terms_not_checked: { one: "needs its provider's terms to be checked", many: "need their provider's terms to be checked" },
  launch_check_missing: { one: "waits for its launch check", many: "wait for their launch check" },
  launch_check_failed: { one: "failed its launch check", many: "failed their launch check" },
  no_price: { one: "has no price yet", many: "have no price yet" },
  request_access: { one: "is in early access, on request", many: "are in early access, on request" },
  coming_soon: { one: "is coming soon", many: "are coming soon" },
  zero_data_retention_required: { one: "keeps data", many: "keep data" },
  catalog_unreadable: { one: "cannot be read", many: "cannot be read" },
};

/** Such as `12 of 84 models can be called; the others need a provider's key, such as OPENAI_API_KEY`. */
export function modelSentences(models: CallableModels | null): Html {
  if (models === null) return markup`<p>The model catalog cannot be read right now.</p>`;
  const { callable, total, keyVariable } = models;
  const counts = markup`<strong>${callable}</strong> of ${total} models can be called`;
  const such = (reason: UnavailableReason): Html | null =>
    reason === "provider_not_configured" && keyVariable !== null ? markup`, such as <code>${keyVariable}</code>` : null;
  const [only, ...others] = models.missing;
  if (only === undefined) return markup`<p>${counts}.</p>`;
  if (others.length === 0) return markup`<p>${counts}; the others ${missing[only.reason].many}${such(only.reason)}.</p>`;
  const words = models.missing.map(
    ({ reason, count }) => markup`${count} ${missing[reason][count === 1 ? "one" : "many"]}${such(reason)}`,
  );
  return markup`<p>${counts}. Of the others, ${joined(words, "; ")}.</p>`;
}

/** How many models a new workspace can call, and what is missing for the others. */
interface CallableModels {
  callable: number;
  total: number;
  /** The reasons with their number of models, the most frequent first. */
  missing: { reason: UnavailableReason; count: number }[];
  /** A variable that would give a provider's key; null: no key is missing. */
  keyVariable: string | null;
}

type Listed = Pick<Models, "readable" | "catalog" | "list" | "availability">;

/** The settings of a new workspace. */
const newWorkspace = { zeroDataRetention: false, earlyAccess: [] };

/** @returns null while no catalog can be read */
export function callableModels(models: Listed): CallableModels | null {
  if (!models.readable()) return null;
  const judged = models.list().map((model) => ({ model, reason: models.availability(model, newWorkspace).reason }));
  const reasons = Map.groupBy(judged, ({ reason }) => reason);
  const missing = [...reasons].flatMap(([reason, { length: count }]) => (reason === null ? [] : [{ reason, count }]));
  const unconfigured = (reasons.get("provider_not_configured") ?? []).map(({ model }) => model);
  return {
    callable: reasons.get(null)?.length ?? 0,
    total: judged.length,
    missing: missing.toSorted((one, other) => other.count - one.count),
    keyVariable: missingVariable(unconfigured, models),
  };
}

export interface FrontDoorParts {
  version: string;
  slug: string;
  consoleOn: boolean;
  /** null: PUBLIC_URL is not set. */
  publicOrigin: string | null;
  /** Without causes, as anyone may see it. */
  readiness: () => Promise<Readiness>;
  models: Pick<Models, "readable" | "catalog" | "list" | "availability">;
  /** null while there is no catalog. */
  connectors: () => number | null;
  clock: Clock;
}

const headers = {
  ...pageHeaders({ scripts: [copyScript], forms: "self" }),
  "content-type": htmlType,
  "cache-control": "no-store",
  vary: "accept",
};

const iconHeaders = {
  "content-type": "image/svg+xml",
  "cache-control": "public, max-age=86400",
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'",
};

export function frontDoorRoutes({ models, readiness, connectors, publicOrigin, clock, ...fixed }: FrontDoorParts): Routes {
  const router = new Router({ clock });
  const counted = memoizeFor(healthKeptMs, clock, async () => callableModels(models));
  const show = async (request: Request): Promise<Response> => {
    if (!prefersHtml(request.headers.get("accept"))) return notFound();
    const [state, counts] = await Promise.all([readiness(), counted()]);
    const door = {
      ...fixed,
      origin: serviceOrigin(request, publicOrigin),
      readiness: state,
      models: counts,
      connectors: connectors(),
    };
    return new Response(frontDoorText(door), { headers });
  };
  // The router sends no body to HEAD.
  const route = (path: string, handle: (request: Request) => Response | Promise<Response>): void =>
    router.add({
      path,
      handle: ({ request }) => (request.method === "GET" || request.method === "HEAD" ? handle(request) : notFound()),
      writeError: () => notFound(),
    });
  route("/", show);
  route("/favicon.ico", () => new Response(iconSvg, { headers: iconHeaders }));
  return router.app;
}

/** What begins the paths of programs, whose unknown ones a browser gets as a program does. */
const apiPrefixes = ["/gpt/", "/api/", "/mcp"];

/** The answer to an unknown path for a person; null: the request is a program's. */
export function unknownPage(request: Request, { consoleOn }: Pick<FrontDoorParts, "consoleOn">): Response | null {
  const { path } = requestTarget(request);
  if (request.method !== "GET" || apiPrefixes.some((prefix) => path.startsWith(prefix))) return null;
  if (!prefersHtml(request.headers.get("accept"))) return null;
  const main = markup`<div class="hero">
    <h1>There is no such page</h1>
    <p class="lead">The address may be mistyped, or the page has moved.</p>
    <p><a class="primary" href="/">Go to the start</a></p>
  </div>`;
  const header = siteHeader({ words: "", consoleOn });
  const page = {
    title: "There is no such page · Weir",
    style: frontDoorStyle,
    scripts: [copyScript],
    header,
    main,
    footer: null,
  };
  return new Response(pageDocument(page), { status: 404, headers });
}

/** Whether a request is a person's. */
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

/** The variable of the first provider in the catalog's order, which begins with the best known. */
function missingVariable(unconfigured: readonly Model[], models: Listed): string | null {
  const missing = new Set(unconfigured.flatMap(({ routes }) => routes.map(({ provider }) => provider.keyEnv)));
  const providers = [...(models.catalog()?.providers.values() ?? [])];
  return providers.find(({ keyEnv }) => keyEnv !== null && missing.has(keyEnv))?.keyEnv ?? null;
}

interface FrontDoor {
  /** null: not known, so paths are shown without it. */
  origin: string | null;
  version: string;
  /** The beginning of keys. */
  slug: string;
  consoleOn: boolean;
  readiness: Readiness;
  /** null while no catalog can be read. */
  models: CallableModels | null;
  /** null while there is no catalog. */
  connectors: number | null;
}

function frontDoorText(door: FrontDoor): string {
  const { version, consoleOn, readiness } = door;
  const main = markup`<div class="hero">
      <h1>Weir is ${readiness.ready ? "ready" : "not ready"}</h1>
      <p class="lead">One API in front of many model providers, the tools of a security platform, and a catalog of connectors.</p>
      ${stateOf(readiness)}
      ${consoleOn ? markup`<p><a class="primary" href="${consolePath}">Open the Console</a></p>` : null}
    </div>
    <div class="cards">${inferenceCard(door)} ${toolsCard(door)} ${connectorsCard(door)}</div>`;
  return pageDocument({
    title: "Weir",
    style: frontDoorStyle,
    scripts: [copyScript],
    header: siteHeader({ words: "", consoleOn }),
    main,
    footer: markup`<footer class="foot">
      <div>
        <p>Weir ${version}</p>
        <p><a href="${referencePath}">API reference</a> · <a href="/openapi.json">OpenAPI document</a></p>
        <p>The guides are in the folder <code>docs</code> of the source</p>
        <p>${fontCredit}</p>
      </div>
    </footer>`,
  });
}

function stateOf(readiness: Readiness): Html {
  const problem = problemSentence(readiness);
  const states = partStates(readiness).map(
    ({ name, works }) => markup`<li class="${works ? "works" : "fails"}">${name} ${works ? "works" : "does not work"}</li>`,
  );
  const list = markup`<ul class="states" aria-label="Parts of the service">
    ${states}
  </ul>`;
  return problem === null
    ? markup`<details class="parts"><summary>All parts work</summary>${list}</details>`
    : markup`<p class="problem">${problem}.</p>${list}`;
}

/** By the names in /ready, which shows everyone that a part is unavailable and only the operator why. */
const parts: Record<string, { name: string; problem: string }> = {
  database: { name: "Database", problem: "the database does not answer" },
  bus: { name: "Message bus", problem: "the message bus is not connected" },
  admission: { name: "Admission", problem: "admission does not answer, so no request can be decided" },
  catalog: { name: "Model catalog", problem: "the model catalog cannot be read" },
  spool: { name: "Spool", problem: "the spool takes no more charges, so no request can begin" },
};

/** What keeps the service from being ready, such as `The database does not answer`; null: nothing. */
function problemSentence({ ready, dependencies }: Readiness): string | null {
  if (ready) return null;
  const failing = Object.keys(dependencies).filter((name) => dependencies[name] !== "ok");
  if (failing.length === 0) return "The service is stopping";
  const text = failing.map((name) => parts[name]?.problem ?? `${name} is unavailable`).join("; ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Each part with its state. */
function partStates({ dependencies }: Readiness): { name: string; works: boolean }[] {
  return Object.entries(dependencies).map(([name, state]) => ({ name: parts[name]?.name ?? name, works: state === "ok" }));
}

function inferenceCard({ origin, models }: FrontDoor): Html {
  return markup`<section class="card" aria-labelledby="inference">
    <h2 id="inference">Inference</h2>
    <p>Any client of chat completions, Responses or Messages works with this base URL and an API key.</p>
    ${copied({ id: "base-url", label: "Base URL", text: `${origin ?? ""}${inferencePrefix}` })} ${modelSentences(models)}
    <p class="links">
      <a href="${referencePath}#quick-start">Quick start</a> <a href="${referencePath}/inference">Reference of the inference API</a>
    </p>
  </section>`;
}

/** Without a script, a click selects the whole text. */
function copied({ id, label, text }: { id: string; label: string; text: string }): Html {
  return markup`${labelled({ id, label })}
    <p class="copied"><code id="${id}">${text}</code></p>`;
}

/** A label with a button that copies the element with the id. */
function labelled({ id, label }: { id: string; label: string }): Html {
  return markup`<div class="label">
    <span id="${id}-label">${label}</span>
    ${copyButton({ copies: id, label: "Copy", what: label })}
  </div>`;
}

function toolsCard({ origin, slug }: FrontDoor): Html {
  const url = `${origin ?? ""}${mcpPath}`;
  const headers = { Authorization: `Bearer ${keyPrefix(slug, "tools")}…` };
  const snippet = JSON.stringify({ mcpServers: { weir: { type: "http", url, headers } } }, null, 2);
  return markup`<section class="card" aria-labelledby="tools">
    <h2 id="tools">Tools and MCP</h2>
    <p>From SBOMs and advisories to findings with fix versions, for people and agents, with a tools key.</p>
    ${copied({ id: "mcp-url", label: "MCP server", text: url })}
    ${labelled({ id: "mcp-settings", label: "Settings of an MCP client" })}
    <pre tabindex="0" role="region" aria-labelledby="mcp-settings-label"><code id="mcp-settings">${snippet}</code></pre>
    <p class="links"><a href="${referencePath}/tools">Reference of the tools API</a></p>
  </section>`;
}

function connectorsCard({ connectors }: FrontDoor): Html {
  const all = connectors === null ? "the catalog" : `all ${connectors} connectors`;
  return markup`<section class="card" aria-labelledby="connectors">
    <h2 id="connectors">Connectors</h2>
    <p>How to connect each vendor: what to prepare there, the form, and the command.</p>
    <form role="search" action="${connectorsPath}" method="get">
      <label for="q">Name or vendor</label>
      <input id="q" name="q" type="search" maxlength="200" autocomplete="off" spellcheck="false" />
      <button type="submit">Search</button>
    </form>
    <p class="links">
      <a href="${connectorsPath}">See ${all}</a> <a href="${referencePath}/connectors">Reference of the catalog's API</a>
    </p>
  </section>`;
}

function weighted(range: string): { type: string; weight: number } {
  const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
  const [weight = 1] = parameters.filter((one) => one.startsWith("q=")).map((one) => Number(one.slice(2)));
  return { type, weight: weight >= 0 && weight <= 1 ? weight : 0 };
}
