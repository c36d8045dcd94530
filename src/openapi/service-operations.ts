/** The paths for monitoring, and the service's own pages for people: the front door, the API reference and the icon. */
import { jsonSchema } from "../http/json-schema.ts";
import { Readiness } from "../process/health.ts";
import { jsonContent, type ResponseDescription, type Paths, headOf, type Operation, type Parameter } from "./operation.ts";

const plainText = (description: string): ResponseDescription => ({
  description,
  content: { "text/plain": { schema: { type: "string" } } },
});

export function servicePaths(): Paths {
  const readiness = jsonContent(jsonSchema(Readiness, new Map()));
  const shared = { tags: ["service"], security: [] };
  return {
    "/health": {
      get: { ...shared, operationId: "health", summary: "Whether the process runs", responses: { "200": plainText("It runs") } },
    },
    "/ready": {
      get: {
        ...shared,
        operationId: "ready",
        summary: "Whether the process can serve, and the state of each part that it needs",
        description: "The problem of a part is shown only with the operator token",
        security: [{}, { operatorToken: [] }],
        responses: {
          "200": { description: "It can", content: readiness },
          "503": { description: "It cannot, or it is stopping", content: readiness },
        },
        "x-addition": true,
      },
    },
    "/metrics": {
      get: {
        ...shared,
        operationId: "metrics",
        summary: "Metrics in the Prometheus text format",
        description: "With the operator token; a separate port (`METRICS_PORT`) needs none",
        security: [{ operatorToken: [] }],
        responses: { "200": plainText("The metrics"), "403": plainText("Without the token") },
        "x-addition": true,
      },
    },
    "/openapi.json": {
      get: {
        ...shared,
        operationId: "openapi",
        summary: "The OpenAPI document of every API",
        responses: { "200": { description: "OpenAPI 3.1.0", content: jsonContent({ type: "object" }) } },
        "x-addition": true,
      },
    },
  };
}

/** The answer of pages that no part has. */
const notFound: ResponseDescription = {
  description: "There is nothing",
  content: jsonContent({
    type: "object",
    required: ["detail"],
    properties: { detail: { type: "string", description: "`Not Found`" } },
  }),
};

const part = inPath("part", "A part of the reference, such as `inference`");

export const pagePaths: Paths = {
  "/": page({
    operationId: "frontDoor",
    summary: "What the service is and whether it works, for people",
    description: "Only a client whose `Accept` prefers `text/html`, such as a browser, gets the page; others get 404",
    responses: { "200": html("The page"), "404": notFound },
  }),
  "/reference": page({
    operationId: "reference",
    summary: "The API reference: an overview, for people",
    responses: { "200": html("The page, with a strong ETag"), "304": { description: "The client has the page" } },
  }),
  "/reference/{part}": page({
    operationId: "referencePart",
    summary: "A part of the API reference, for people",
    parameters: [part],
    responses: {
      "200": html("The page, with a strong ETag"),
      "304": { description: "The client has the page" },
      "404": notFound,
    },
  }),
  "/assets/{digest}/{name}": page({
    operationId: "asset",
    summary: "A style, script or font of the pages",
    description: "It is kept for good: its address has the digest of its bytes",
    parameters: [inPath("digest", "As a page names it"), inPath("name", "Such as `console.css`")],
    responses: {
      "200": { description: "The file, with a strong ETag", content: { "*/*": { schema: { type: "string" } } } },
      "304": { description: "The client has the file" },
      "404": notFound,
    },
  }),
  "/favicon.ico": page({
    operationId: "icon",
    summary: "The icon of the pages",
    responses: { "200": { description: "The icon", content: { "image/svg+xml": { schema: { type: "string" } } } } },
  }),
};

function inPath(name: string, description: string): Parameter {
  return { name, in: "path", required: true, description, schema: { type: "string" } };
}

/** HEAD is the same without a body. */
function page(words: Pick<Operation, "operationId" | "summary" | "description" | "parameters" | "responses">): Paths[string] {
  const get: Operation = { ...words, tags: ["service"], security: [], "x-addition": true };
  return { get, head: headOf(get) };
}

function html(description: string): ResponseDescription {
  return { description, content: { "text/html": { schema: { type: "string", description: "A page for people" } } } };
}
