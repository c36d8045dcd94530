/** The service's own pages for people: the front door, the API reference and the icon. */
import { headOf, jsonContent, type Operation, type Parameter, type ResponseDescription, type Paths } from "./operation.ts";

const notFound: ResponseDescription = {
  description: "There is nothing",
  content: jsonContent({
    type: "object",
    required: ["detail"],
    properties: { detail: { type: "string", description: "`Not Found`" } },
  }),
};

const part: Parameter = {
  name: "part",
  in: "path",
  required: true,
  description: "A part of the reference, such as `inference`",
  schema: { type: "string" },
};

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
  "/favicon.ico": page({
    operationId: "icon",
    summary: "The icon of the pages",
    responses: { "200": { description: "The icon", content: { "image/svg+xml": { schema: { type: "string" } } } } },
  }),
};

function html(description: string): ResponseDescription {
  return { description, content: { "text/html": { schema: { type: "string", description: "A page for people" } } } };
}

/** HEAD is the same without a body. */
function page(words: Pick<Operation, "operationId" | "summary" | "description" | "parameters" | "responses">): Paths[string] {
  const get: Operation = { ...words, tags: ["service"], security: [], "x-addition": true };
  return { get, head: headOf(get) };
}
