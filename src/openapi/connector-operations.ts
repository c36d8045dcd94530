/**
 * The public paths of the connector catalog in the OpenAPI document: documents for programs and pages for people, with their parameters,
 * versions and refusals.
 */
import { versionHeader } from "../http/document.ts";
import { ConnectorChange } from "../connectors/catalog/changes.ts";
import { ConnectorExport, ConnectorList } from "../connectors/catalog/documents.ts";
import { RefusalBody } from "../connectors/catalog/refusal.ts";
import { ConnectorRow } from "../connectors/catalog/row.ts";
import { methods } from "../connectors/catalog/files/schema.ts";
import { schemaOrReference, type JsonSchema, type Names } from "../http/json-schema.ts";
import { listRowsMax } from "../http/limits.ts";
import {
  headOf,
  jsonContent,
  type ResponseDescription,
  type MediaType,
  type Operation,
  type Parameter,
  type Paths,
} from "./operation.ts";

/** A path with GET. HEAD is the same without a body. */
interface Described {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: Parameter[];
  content: Record<string, MediaType>;
  refusals: Record<string, string>;
  /** Accepts `Range`. */
  ranges?: boolean;
}

export function connectorPaths(names: Names): Paths {
  const refusal = jsonContent(schemaOrReference(RefusalBody, names));
  const both = (described: Described) => getAndHead(described, refusal);
  return {
    "/api/connectors": both({ ...list, content: jsonContent(schemaOrReference(ConnectorList, names)) }),
    "/api/connectors/{slug}": both({ ...one, content: jsonContent(schemaOrReference(ConnectorRow, names)) }),
    "/api/connector-exports/{file}": both({
      ...exported,
      content: {
        "application/x-ndjson": { schema: schemaOrReference(ConnectorRow, names) },
        "text/csv": { schema: { type: "string", description: "Columns for people, followed by columns for programs" } },
        ...jsonContent(schemaOrReference(ConnectorExport, names)),
      },
    }),
    "/api/connector-changes": both({
      ...changes,
      content: { "application/x-ndjson": { schema: schemaOrReference(ConnectorChange, names) } },
    }),
    "/api/connector-schema.json": both(rowSchema),
    "/connectors": page(catalogPage),
    "/connectors/{slug}": page(setUpPage),
  };
}

const later = { "503": "There is no catalog yet, or the database does not answer: try again shortly" };

const filters = [
  parameter("category", { type: "string" }, "Name of a category"),
  parameter("method", { type: "string", enum: [...methods] }, "A way to connect"),
  parameter("testable", { type: "string", enum: ["yes"] }, "Only connectors whose credentials can be tested"),
  parameter(
    "q",
    { type: "string", maxLength: 200 },
    "Words; each begins a word of name, vendor, category or method, or of a name that search-words.json knows",
  ),
];

const list = {
  operationId: "listConnectors",
  summary: "Connectors of the catalog, sorted by id, or with `q` the best match first",
  description:
    "Filters apply together. One typo in each word of `q` is forgiven: `did_you_mean` then has the words that were searched for",
  parameters: [
    ...filters,
    parameter("limit", { type: "integer", minimum: 1, maximum: listRowsMax, default: 50 }, "Maximum of connectors"),
    parameter("offset", { type: "integer", minimum: 0, default: 0 }, "How many connectors to skip"),
  ],
  refusals: { "400": "A parameter is wrong: the sentence names it", ...later },
};

const one = {
  operationId: "showConnector",
  summary: "One connector",
  parameters: [inPath("slug", "The connector's slug, or its id")],
  refusals: { "400": "There is no such parameter", "404": "There is no such connector", ...later },
};

const exported = {
  operationId: "exportConnectors",
  summary: "The whole catalog as one file, the same bytes for the same version",
  description: "The file of a version never changes. `Range` and `If-Range` request a part",
  parameters: [inPath("file", "`latest` or a version, and `.ndjson`, `.csv` or `.json`, such as `latest.ndjson`")],
  refusals: { "400": "There is no such parameter", "404": "There is no such file", ...later },
  ranges: true,
};

const changes = {
  operationId: "listConnectorChanges",
  summary: "The changes since a version: applied in order, the lines give the current catalog",
  description:
    "A line is `{seq,id,op,version,row}`; `op` is `added`, `changed` or `removed`, and `row` is null where the connector is gone. The last line names the version that was reached; without lines it is the one that you have",
  parameters: [{ ...parameter("since", { type: "string" }, "The version that you have, or `0`"), required: true }],
  refusals: { "400": "The version was never published", ...later },
};

const rowSchema: Described = {
  operationId: "connectorSchema",
  summary: "JSON Schema (2020-12) of a row; fields may be added to it",
  content: { "application/schema+json": { schema: { type: "object", description: "The schema" } } },
  refusals: { "400": "There is no such parameter" },
};

const catalogPage = {
  operationId: "connectorsPage",
  summary: "The catalog as a page: filters, counts and 50 connectors",
  parameters: [...filters, parameter("page", { type: "integer", minimum: 1, default: 1 }, "Number of the page")],
  refusals: { "400": "A parameter is wrong: the page names it", "404": "The list has no such page", ...later },
};

const setUpPage = {
  operationId: "connectorPage",
  summary: "How to set up a connector: its grant, its form, and the command that connects",
  parameters: [inPath("slug", "The connector's slug; its id redirects to it")],
  refusals: { "400": "There is no such parameter", "404": "There is no such connector; the page names the nearest", ...later },
};

function getAndHead(described: Described, refusal: Record<string, MediaType>): Record<string, Operation> {
  return { get: operation(described, refusal), head: headOf(operation(described, refusal)) };
}

function operation(described: Described, refusal: Record<string, MediaType>): Operation {
  const { content, refusals, ranges, ...words } = described;
  const found: Record<string, ResponseDescription> = {
    "200": { description: `The document, with a strong ETag; the header ${versionHeader} names its version`, content },
    "304": { description: "The client has the document: `If-None-Match` has its ETag" },
  };
  if (ranges) found["206"] = { description: "The part that `Range` requested", content };
  const refused = Object.entries({ ...refusals, ...(ranges && { "416": "`Range` asks for bytes after the last" }) });
  const answers = refused.map(([status, description]): [string, ResponseDescription] => [
    status,
    { description, content: refusal },
  ]);
  return {
    ...words,
    tags: ["connectors"],
    security: [],
    responses: { ...found, ...Object.fromEntries(answers) },
    "x-addition": true,
  };
}

/** A page, whose refusals are pages too. */
function page(described: Omit<Described, "content">): Record<string, Operation> {
  const content = { "text/html": { schema: { type: "string", description: "A page for people" } } };
  return getAndHead({ ...described, content }, content);
}

function parameter(name: string, schema: JsonSchema, description: string): Parameter {
  return { name, in: "query", required: false, description, schema };
}

function inPath(name: string, description: string): Parameter {
  return { name, in: "path", required: true, description, schema: { type: "string" } };
}
