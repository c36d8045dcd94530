/** The front door: what this service is, whether it works, and where to begin. */
import { markup, type Html } from "../../../http/html.ts";
import { copyButton } from "../../../console/look/copy.ts";
import { pageDocument } from "../../../http/page.ts";
import { inferencePrefix } from "../../../gateway/api/routes.ts";
import { keyPrefix } from "../../../kernel/ids.ts";
import { mcpPath } from "../../../security/api/operations.ts";
import { connectorsPath, copyScript, referencePath, signInPath, siteHeader, siteStyle } from "../site-header.ts";
import type { CallableModels } from "./callable-models.ts";
import { modelSentences, partStates, problemSentence, type Readiness } from "./state-words.ts";

export const frontDoorStyle = siteStyle(new URL("front-door.css", import.meta.url));

export interface FrontDoor {
  /** null: shown without it, as a path. */
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

export function frontDoorText(door: FrontDoor): string {
  const { version, consoleOn, readiness } = door;
  const main = markup`<div class="hero">
      <h1>Weir is ${readiness.ready ? "ready" : "not ready"}</h1>
      <p class="lead">One API in front of many model providers, the tools of a security platform, and a catalog of connectors.</p>
      ${stateOf(readiness)}
      ${consoleOn ? markup`<p><a class="primary" href="${signInPath}">Sign in to the Console</a></p>` : null}
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
      </div>
    </footer>`,
  });
}

function stateOf(readiness: Readiness): Html {
  const problem = problemSentence(readiness);
  const states = partStates(readiness).map(
    ({ name, works }) => markup`<li class="${works ? "works" : "fails"}">${name} ${works ? "works" : "does not work"}</li>`,
  );
  return markup`${problem === null ? null : markup`<p class="problem">${problem}.</p>`}
    <ul class="states" aria-label="Parts of the service">
      ${states}
    </ul>`;
}

function inferenceCard({ origin, models }: FrontDoor): Html {
  return markup`<section class="card" aria-labelledby="inference">
    <h2 id="inference">Inference</h2>
    <p>Any client of the chat-completions format works with this base URL and an API key.</p>
    ${copied({ id: "base-url", label: "Base URL", text: `${origin ?? ""}${inferencePrefix}` })} ${modelSentences(models)}
    <p class="links">
      <a href="${referencePath}#quick-start">Quick start</a> <a href="${referencePath}/inference">Reference of the inference API</a>
    </p>
  </section>`;
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

/** A click selects the whole text where no script runs. */
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
