/**
 * The OpenAPI document split into the parts of the reference, with its references resolved. Answers that many operations share are
 * described once per part.
 */
import type { JsonSchema } from "../../http/json-schema.ts";
import type { OpenApiDocument } from "../../openapi/document.ts";
import type { Header, Parameter, Reference, ResponseDescription } from "../../openapi/operation.ts";
import type { ExampleRequest } from "./curl.ts";
import { shapeOf, type Shape } from "./shape.ts";

export interface DescribedOperation extends ExampleRequest {
  /** In capitals; HEAD follows its GET. */
  methods: string[];
  /** The title, and the rest of the summary. */
  title: string;
  remark: string;
  /** What the list of operations shows. */
  label: string;
  /** An operation before it that takes the same body, and shows its fields; null: there is none. */
  sameBody: { id: string; title: string } | null;
  answers: DescribedAnswer[];
}

export interface DescribedAnswer extends ResponseDescription {
  status: string;
  /** Whether the answer is described once for all operations that give it. */
  shared: boolean;
}

export interface Part {
  /** The tag, and the last piece of the page's address. */
  name: string;
  title: string;
  description: string;
  operations: DescribedOperation[];
  /** The named schemas that the operations use, directly or through others. */
  schemas: [name: string, shape: Shape][];
  headers: [name: string, header: Header][];
}

const titles: Record<string, string> = {
  inference: "Inference",
  tools: "Tools and MCP",
  connectors: "Connectors",
  service: "Service",
  "control-accounts": "Control: accounts",
  "control-inference": "Control: inference",
  "control-security": "Control: security",
};

export function partsOf(document: OpenApiDocument): Part[] {
  return document.tags.map(({ name, description }) => {
    const operations = withSameBodies(labelled(operationsOf(document, name)));
    return {
      name,
      title: titles[name] ?? name,
      description,
      operations,
      schemas: schemasOf(document, operations),
      headers: headersOf(document, operations),
    };
  });
}

/** Replaces labels that several operations would share with the operations' paths. */
function labelled(operations: DescribedOperation[]): DescribedOperation[] {
  const uses = Map.groupBy(operations, ({ label }) => label);
  return operations.map((one) =>
    uses.get(one.label)?.length === 1 ? one : { ...one, label: one.path.split("/").slice(3).join("/") || one.path },
  );
}

/** A body of a hundred fields stands once on a page. */
function withSameBodies(operations: DescribedOperation[]): DescribedOperation[] {
  const first = new Map<unknown, DescribedOperation["sameBody"]>();
  return operations.map((one) => {
    const { operationId, requestBody } = one.operation;
    const name = requestBody?.content["application/json"]?.schema["$ref"];
    if (name === undefined) return one;
    const sameBody = first.get(name) ?? null;
    if (sameBody === null) first.set(name, { id: operationId, title: one.title });
    return { ...one, sameBody };
  });
}

function operationsOf(document: OpenApiDocument, tag: string): DescribedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) => {
    const entries = Object.entries(methods).filter(
      ([method, { tags }]) => tags.includes(tag) && !(method === "head" && methods["get"]),
    );
    return entries.map(([method, operation]) => {
      const extra = method === "get" && methods["head"] ? ["HEAD"] : [];
      return described(document, { path, method, methods: [method.toUpperCase(), ...extra], operation });
    });
  });
}

function described(
  document: OpenApiDocument,
  named: Pick<DescribedOperation, "path" | "method" | "methods" | "operation">,
): DescribedOperation {
  const { operation } = named;
  const [title = "", ...further] = operation.summary.split("; ");
  const schema = operation.requestBody?.content["application/json"]?.schema;
  return {
    ...named,
    title,
    remark: capitalized(further.join("; ")),
    label: title.split(/[,:]/)[0] ?? title,
    sameBody: null,
    parameters: (operation.parameters ?? []).map((parameter) => resolved<Parameter>(document, parameter)),
    body: schema === undefined ? null : shapeOf(schemaOf(document, schema)),
    answers: Object.entries(operation.responses).map(([status, response]) => ({
      ...resolved<ResponseDescription>(document, response),
      status,
      shared: "$ref" in response,
    })),
  };
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The caller knows which kind of component the reference names. */
function resolved<Component>({ components }: OpenApiDocument, given: Component | Reference): Component {
  if (!isReference(given)) return given;
  const [kind = "", name = ""] = given.$ref.split("/").slice(-2);
  return components[kind]?.[name] as Component;
}

function isReference(given: unknown): given is Reference {
  return typeof given === "object" && given !== null && "$ref" in given;
}

function schemaOf({ components }: OpenApiDocument, schema: JsonSchema): JsonSchema {
  const { $ref } = schema;
  return typeof $ref === "string" ? (components.schemas[lastPiece($ref)] ?? {}) : schema;
}

function lastPiece(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

function schemasOf({ components }: OpenApiDocument, operations: DescribedOperation[]): Part["schemas"] {
  // If a body is a reference to a schema, the operation shows the schema's fields itself.
  const shown = operations.flatMap(({ operation, answers }) => {
    const schema = operation.requestBody?.content["application/json"]?.schema;
    const name = schema?.["$ref"];
    const inner = typeof name === "string" ? components.schemas[lastPiece(name)] : schema;
    return [inner ?? {}, ...answers.filter(({ status }) => status.startsWith("2")).map(({ content }) => content ?? {})];
  });
  const found = new Set<string>();
  for (let waiting = referencesIn(shown); waiting.length > 0;) {
    for (const name of waiting) found.add(name);
    waiting = referencesIn(waiting.map((name) => components.schemas[name])).filter((name) => !found.has(name));
  }
  return [...found].map((name) => [name, shapeOf(components.schemas[name] ?? {})]);
}

function referencesIn(value: unknown): string[] {
  const found = JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  return [...new Set([...found].map(([, name = ""]) => name))];
}

function headersOf({ components }: OpenApiDocument, operations: DescribedOperation[]): Part["headers"] {
  const names = new Set(operations.flatMap(({ answers }) => answers.flatMap(({ headers }) => Object.keys(headers ?? {}))));
  // The document's headers are those of src/openapi/operation.ts.
  return Object.entries((components["headers"] ?? {}) as Record<string, Header>).filter(([name]) => names.has(name));
}
