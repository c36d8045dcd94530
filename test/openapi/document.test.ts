/** The document is valid OpenAPI 3.1.0 for generators and validators, and describes every field. */
import { describe, expect, test } from "bun:test";
import { errorStatuses } from "../../src/accounts/errors.ts";
import { errorTable } from "../../src/kernel/errors.ts";
import { generationNames, ignoredNames, messageNames, retryNames, routeNames, windowNames } from "../../src/openapi/operation.ts";
import { openApiDocument } from "../../src/openapi/document.ts";
import { isJson, jsonOf, knownKeywords, resolve, type Json } from "../support/described.ts";

/** The document as it is served. */
const document: Json = JSON.parse(JSON.stringify(openApiDocument({ slug: "acme" })));
const components = jsonOf(document["components"]);

const operations = Object.entries(jsonOf(document["paths"])).flatMap(([path, methods]) =>
  Object.entries(jsonOf(methods)).map(([method, operation]) => ({ path, method, operation: jsonOf(operation) })),
);
const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
/** The object itself, or the one that it refers to. */
const followed = (value: unknown): Json =>
  isJson(value) && typeof value["$ref"] === "string" ? resolve(document, value["$ref"]) : jsonOf(value);
const responsesOf = (operation: Json) =>
  Object.entries(jsonOf(operation["responses"])).map(([status, response]) => [status, followed(response)] as const);
const parametersOf = (operation: Json) => listed(operation["parameters"]).map(followed);

/** The fields of the objects of https://spec.openapis.org/oas/v3.1.0 that this document uses; `!` marks required ones. */
const shapes = {
  document: "openapi! info! servers paths components tags",
  info: "title! version! description",
  operation: "operationId! summary! description tags security parameters requestBody responses! x-addition",
  parameter: "name! in! required description! schema!",
  requestBody: "required content!",
  response: "description! headers content x-addition",
  mediaType: "schema! examples",
  header: "description! schema! x-addition",
  httpScheme: "type! scheme! description x-addition",
  apiKeyScheme: "type! in! name! description x-addition",
  components: "schemas responses headers parameters securitySchemes",
  tag: "name! description!",
};

function misshapen(kind: keyof typeof shapes, object: Json): string[] {
  const words = shapes[kind].split(" ");
  const known = new Set(words.map((word) => word.replace("!", "")));
  const missing = words.filter((word) => word.endsWith("!") && !(word.slice(0, -1) in object));
  return [
    ...missing.map((word) => `${kind} lacks ${word}`),
    ...Object.keys(object)
      .filter((name) => !known.has(name))
      .map((name) => `${kind} has ${name}`),
  ];
}

function mediaTypesOf(holder: Json): Json[] {
  return Object.values(jsonOf(holder["content"] ?? {})).map(jsonOf);
}

/** Every schema of the document, including nested ones, by its path. */
function* schemasWithin(schema: Json, at: string): Generator<[string, Json]> {
  yield [at, schema];
  for (const [name, field] of Object.entries(jsonOf(schema["properties"] ?? {})))
    yield* schemasWithin(jsonOf(field), `${at}.${name}`);
  for (const branch of listed(schema["anyOf"])) yield* schemasWithin(jsonOf(branch), at);
  if (schema["items"] !== undefined) yield* schemasWithin(jsonOf(schema["items"]), `${at}[]`);
  if (isJson(schema["additionalProperties"])) yield* schemasWithin(schema["additionalProperties"], `${at}.*`);
}

const schemas = [
  ...Object.entries(jsonOf(components["schemas"])),
  ...operations.flatMap(({ method, path, operation }) => {
    const bodies = [
      ...responsesOf(operation).map(([, response]) => response),
      ...(isJson(operation["requestBody"]) ? [operation["requestBody"]] : []),
    ];
    const contents = bodies.flatMap(mediaTypesOf).map((media) => media["schema"]);
    return [...contents, ...parametersOf(operation).map((parameter) => parameter["schema"])].map(
      (schema) => [`${method} ${path}`, schema] as const,
    );
  }),
].flatMap(([at, schema]) => [...schemasWithin(jsonOf(schema), at)]);

describe("the document", () => {
  test("the document is OpenAPI 3.1.0 of version 1.0", () => {
    expect(document).toMatchObject({ openapi: "3.1.0", info: { version: "1.0" } });
  });

  test("the document has only objects and fields of that format", () => {
    const found = [
      ...misshapen("document", document),
      ...misshapen("info", jsonOf(document["info"])),
      ...misshapen("components", components),
      ...listed(document["tags"]).flatMap((tag) => misshapen("tag", jsonOf(tag))),
      ...Object.values(jsonOf(components["headers"])).flatMap((header) => misshapen("header", jsonOf(header))),
      ...Object.values(jsonOf(components["securitySchemes"]))
        .map(jsonOf)
        .flatMap((scheme) => misshapen(scheme["type"] === "apiKey" ? "apiKeyScheme" : "httpScheme", scheme)),
      ...operations.flatMap(({ operation }) => [
        ...misshapen("operation", operation),
        ...parametersOf(operation).flatMap((parameter) => misshapen("parameter", parameter)),
        ...(isJson(operation["requestBody"]) ? misshapen("requestBody", operation["requestBody"]) : []),
        ...responsesOf(operation).flatMap(([, response]) => [
          ...misshapen("response", response),
          ...mediaTypesOf(response).flatMap((media) => misshapen("mediaType", media)),
        ]),
      ]),
    ];
    expect(found).toEqual([]);
  });

  test("schemas have only known keywords, and every reference has a target", () => {
    const unknown = schemas.flatMap(([at, schema]) =>
      Object.keys(schema)
        .filter((keyword) => !knownKeywords.has(keyword))
        .map((keyword) => `${at}: ${keyword}`),
    );
    expect(unknown).toEqual([]);
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, pointer = ""]) => pointer);
    for (const pointer of references) expect(resolve(document, pointer)).toBeObject();
    const parts = ["schemas", "responses", "headers", "parameters"].flatMap((kind) =>
      Object.keys(jsonOf(components[kind])).map((name) => `#/components/${kind}/${name}`),
    );
    expect(parts.filter((pointer) => !references.includes(pointer))).toEqual(["#/components/responses/Control405"]);
  });
});

describe("each operation", () => {
  test("each operation has a unique id", () => {
    const ids = operations.map(({ operation }) => operation["operationId"]);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  test("each operation has a summary, a declared tag, a declared security scheme and answers", () => {
    const tags = listed(document["tags"]).map((tag) => jsonOf(tag)["name"]);
    const schemes = Object.keys(jsonOf(components["securitySchemes"]));
    for (const { operation } of operations) {
      expect(operation["summary"]).not.toBe("");
      expect(listed(operation["tags"]).every((tag) => tags.includes(tag))).toBe(true);
      expect(
        listed(operation["security"])
          .flatMap((one) => Object.keys(jsonOf(one)))
          .every((name) => schemes.includes(name)),
      ).toBe(true);
      expect(responsesOf(operation).every(([status]) => /^[2-5]\d\d$/.test(status))).toBe(true);
      expect(responsesOf(operation)).not.toEqual([]);
    }
  });

  test("each operation declares exactly the parameters of its path, as required", () => {
    for (const { path, operation } of operations) {
      const inPath = parametersOf(operation).filter((parameter) => parameter["in"] === "path");
      expect(inPath.map((parameter) => parameter["name"])).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
      expect(inPath.every((parameter) => parameter["required"] === true)).toBe(true);
    }
  });

  test("each body allows only declared fields", () => {
    // Except a message of another protocol, and files.
    const others = [
      "/mcp",
      "/api/tools-attachments",
      "/api/console/sboms",
      "/api/console/repositories/archive",
      "/api/console/vex",
    ];
    const forms = operations.filter(({ path }) => !others.includes(path));
    const bodies = forms.map(({ operation }) => operation["requestBody"]).filter(isJson);
    const schemas = bodies.flatMap(mediaTypesOf).map(({ schema }) => followed(schema));
    expect(schemas.length).toBeGreaterThan(10);
    expect(schemas.filter((schema) => schema["additionalProperties"] !== false)).toEqual([]);
  });

  test("each operation beyond the specification is marked", () => {
    const unmarked = operations
      .filter(({ operation }) => operation["x-addition"] !== true)
      .map(({ method, path }) => `${method} ${path}`);
    expect(unmarked).toEqual([
      "post /gpt/v1/chat/completions",
      "get /gpt/v1/models",
      "get /gpt/v1/models/{id}",
      "get /gpt/v1/key",
      "post /gpt/v1/embeddings",
      "post /gpt/v1/completions",
      "get /health",
      "post /api/tools/acme_list_projects",
      "post /api/tools/acme_get_project",
      "post /api/tools/acme_list_products",
      "post /api/tools/acme_list_vulnerabilities",
      "post /api/tools/acme_get_vulnerability",
      "post /api/tools/acme_list_findings",
      "post /api/tools/acme_submit_feedback",
      "post /api/tools/acme_report_bug",
    ]);
  });
});

describe("every field", () => {
  const fields = schemas.flatMap(([at, schema]) =>
    Object.entries(jsonOf(schema["properties"] ?? {})).map(([name, field]) => [`${at}.${name}`, jsonOf(field)] as const),
  );

  test("every field has a description", () => {
    const silent = [
      ...fields.filter(([, { description, $ref }]) => typeof description !== "string" && $ref === undefined).map(([at]) => at),
      ...operations.flatMap(({ path, operation }) =>
        parametersOf(operation)
          .filter(({ description }) => description === "")
          .map(({ name }) => `${path} ${String(name)}`),
      ),
    ];
    expect([...new Set(silent)]).toEqual([]);
  });

  test.each([
    ["_ms", /milliseconds/],
    ["_usd", /USD/],
    ["_at", /ISO 8601|Unix seconds/],
    ["_tokens", /tokens/i],
    ["_percent", /percent/],
  ])("the description of a field whose name ends with %s names its unit", (ending, unit) => {
    const concerned = fields.filter(([at]) => at.endsWith(ending));
    expect(concerned).not.toEqual([]);
    expect(concerned.filter(([, { description }]) => !unit.test(String(description))).map(([at]) => at)).toEqual([]);
  });
});

describe("errors", () => {
  const codesOf = (path: string, method: string, status: string): unknown => {
    const operation = operations.find((one) => one.path === path && one.method === method)?.operation ?? {};
    const response = followed(jsonOf(operation["responses"])[status]);
    const schema = jsonOf(mediaTypesOf(response)[0]?.["schema"]);
    return jsonOf(jsonOf(jsonOf(jsonOf(schema["properties"])["error"])["properties"])["code"])["enum"];
  };

  test.each(Object.entries(Object.groupBy(Object.entries(errorTable), ([, { status }]) => String(status))))(
    "the errors of a chat completion with status %s are those of the error table",
    (status, rows = []) => {
      expect(codesOf("/gpt/v1/chat/completions", "post", status)).toEqual(rows.map(([code]) => code));
    },
  );

  test("the errors of the control API are those of its table", () => {
    const codes = ["400", "401", "403", "404", "408", "409", "413", "429", "500", "503"].flatMap((status) =>
      listed(codesOf("/api/console/keys", "post", status)),
    );
    expect([...codes, "method_not_allowed"].toSorted()).toEqual(Object.keys(errorStatuses).toSorted());
  });

  test("errors show the message that a client gets, with the service's own prefix", () => {
    expect(JSON.stringify(document)).toContain("Keys start with acme-api- and are sent as a Bearer token");
    expect(JSON.stringify(document)).not.toContain("{prefix}");
  });
});

test("the document describes every header that the inference API writes", () => {
  const described = Object.keys(jsonOf(components["headers"]));
  expect(
    [
      ...new Set([...generationNames, ...routeNames, ...ignoredNames, ...windowNames, ...retryNames, ...messageNames]),
      "x-token-count",
      "x-should-retry",
      "idempotent-replayed",
    ].toSorted(),
  ).toEqual(described.toSorted());
});
