/**
 * /reference and a page for each part of it. They are made from the OpenAPI document at the first request for one, and then kept. The
 * commands of the overview have the address of PUBLIC_URL; without it, the page's script shows the address that the browser used.
 *
 * Why no renderer from npm: served from our own origin under the policy of our pages (no inline style, no eval, no HTML from scripts),
 * Scalar 1.72, Redoc 3.0, RapiDoc 9.3 and Elements 9.0 show nothing, and Swagger UI 5.35 only its frame. They are 0.9 to 4.4 MB of script;
 * a page here is one request and can be read without one. With the policy off, the browser tests' accessibility audit, which must find
 * nothing, finds 45 faulty elements in Redoc and 48 in Elements, and Redoc loads an image from its maker's host.
 */
import { answer, documentOf, type Document } from "../../http/document.ts";
import { notFound } from "../../gateway/api/routes.ts";
import { markup, type Html } from "../../http/html.ts";
import { htmlType, pageHeaders } from "../../http/page.ts";
import { Router, type RouteContext, type Routes } from "../../http/router.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { OpenApiDocument } from "../../openapi/document.ts";
import { partsOf, type Part, type DescribedOperation } from "./described.ts";
import { partPage, referenceText, type ReferencePage, partPath } from "./reference-page.ts";
import { copyScript, referencePath, codeBlock, definition, prose } from "./site.ts";

interface ReferenceParts {
  /** The OpenAPI document as JSON. */
  description: string;
  consoleOn: boolean;
  /** The address that PUBLIC_URL names; null: it is not set, and the page's script shows the browser's address. */
  publicOrigin: string | null;
}

const policy = pageHeaders({ scripts: [copyScript], forms: "none" });

export function referenceRoutes({ clock, ...parts }: ReferenceParts & { clock: Clock }): Routes {
  const router = new Router({ clock });
  const page = pagesOf(parts);
  const show = async ({ request, params }: RouteContext): Promise<Response> => {
    const { method } = request;
    const shown = method === "GET" || method === "HEAD" ? page(params?.["part"] ?? null) : null;
    if (shown === null) return notFound();
    return answer(request, await shown, { stays: "until changed", ranges: false, version: null, headers: policy });
  };
  for (const path of [referencePath, `${referencePath}/:part`]) router.add({ path, handle: show, writeError: () => notFound() });
  return router.app;
}

/** @returns a function that makes each page once, and returns null for an unknown part; the name null means the overview */
function pagesOf({ description, consoleOn, publicOrigin }: ReferenceParts): (name: string | null) => Promise<Document> | null {
  const made = new Map<string | null, Promise<Document>>();
  let read: { document: OpenApiDocument; parts: Part[] } | null = null;
  return (name) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const { document, parts } = (read ??= readDescription(description));
    const part = parts.find((one) => one.name === name) ?? null;
    if (part === null && name !== null) return null;
    const page = part === null ? overviewPage(document, parts, publicOrigin) : partPage(part);
    const shown = documentOf(referenceText(page, parts, consoleOn), htmlType);
    made.set(name, shown);
    return shown;
  };
}

function readDescription(description: string): { document: OpenApiDocument; parts: Part[] } {
  const document = JSON.parse(description) as OpenApiDocument;
  return { document, parts: partsOf(document) };
}

/** First calls, keys, and every operation in one list. */
function overviewPage({ info, components }: OpenApiDocument, parts: readonly Part[], origin: string | null): ReferencePage {
  const [lead = "", ...paragraphs] = info.description.split("\n\n");
  const main = markup`<h1>API reference</h1>
    <p class="lead">${prose(lead)}</p>
    <p>The same as data, for generators and agents: <a href="/openapi.json">the OpenAPI document</a>.</p>
    ${paragraphs.map((text) => markup`<p>${prose(text)}</p>`)}
    ${quickStart(origin)} ${keySection(components["securitySchemes"] ?? {})}
    <section aria-labelledby="operations">
      <h2 id="operations">All operations</h2>
      ${parts.map(partList)}
    </section>`;
  const sections: ReferencePage["sections"] = [
    ["quick-start", "Quick start"],
    ["keys", "Keys"],
    ["operations", "All operations"],
  ];
  return { title: "API reference", part: null, main, sections };
}

const firstChat = `curl -N "$WEIR_URL/gpt/v1/chat/completions" \\
  -H "Authorization: Bearer $WEIR_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"sandbox/echo","stream":true,"messages":[{"role":"user","content":"Hello, weir"}]}'`;
const modelList = `curl "$WEIR_URL/gpt/v1/models?all=true" \\
  -H "Authorization: Bearer $WEIR_KEY"`;
const client = `import os
from openai import OpenAI
client = OpenAI(base_url=os.environ["WEIR_URL"] + "/gpt/v1", api_key=os.environ["WEIR_KEY"])`;

function quickStart(origin: string | null): Html {
  const address = origin ?? markup`<span data-origin>…  # this service's address</span>`;
  const variables = markup`export WEIR_URL=${address}\nexport WEIR_KEY=…  # an API key`;
  return markup`<section aria-labelledby="quick-start">
    <h2 id="quick-start">Quick start</h2>
    <p>The first start of a service prints an API key and a tools key. Its operator can create more.</p>
    ${codeBlock({ id: "variables", what: "the variables", code: variables })}
    <p>Stream a chat with <code>sandbox/echo</code>, a model inside the service that echoes your text:</p>
    ${codeBlock({ id: "first-chat", what: "the first chat", code: firstChat })}
    <p>List the models, each that cannot be called with its reason:</p>
    ${codeBlock({ id: "model-list", what: "the list of models", code: modelList })}
    <p>Or use any client of chat completions, Responses or Messages:</p>
    ${codeBlock({ id: "client", what: "the client", code: client })}
  </section>`;
}

/** The document's security schemes. */
function keySection(schemes: Record<string, unknown>): Html {
  const rows: [id: string, name: string, variable: string][] = [
    ["apiKey", "API key", "WEIR_KEY"],
    ["apiKeyHeader", "API key in a header of its own", "WEIR_KEY"],
    ["ApiKeyAuth", "Tools key", "WEIR_TOOLS_KEY"],
    ["operatorToken", "Operator token", "WEIR_TOKEN"],
  ];
  return markup`<section aria-labelledby="keys">
    <h2 id="keys">Keys</h2>
    <p>
      A key is sent as <code>Authorization: Bearer …</code>. The examples take the service's address from <code>WEIR_URL</code> and
      each key from a variable:
    </p>
    <dl class="answers keys">
      ${rows.map(([id, term, variable]) => {
        const hint = markup`<p class="hint">In the examples <code>$${variable}</code></p>`;
        return definition({ id, term, words: markup`<p>${prose(descriptionOf(schemes[id]))}.</p>${hint}` });
      })}
    </dl>
  </section>`;
}

function descriptionOf(scheme: unknown): string {
  const described = typeof scheme === "object" && scheme !== null && "description" in scheme ? scheme.description : "";
  return String(described);
}

function partList(part: Part): Html {
  return markup`<h3><a href="${partPath(part)}">${part.title}</a></h3>
    <p>${prose(part.description)}.</p>
    <ul class="index">
      ${part.operations.map((one) => operationItem(part, one))}
    </ul>`;
}

function operationItem(part: Part, { operation, methods, path, title }: DescribedOperation): Html {
  return markup`<li>
    <a href="${partPath(part)}#${operation.operationId}">${prose(title)}</a>
    <span class="under"><span class="method">${methods[0] ?? ""}</span> <code>${path}</code></span>
  </li>`;
}
