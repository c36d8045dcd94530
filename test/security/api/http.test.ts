/** `POST /api/tools/<slug>_<operation>`: the envelopes, and errors that say what to change. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { toolsBodyBytesMax } from "../../../src/security/limits.ts";
import { operations } from "../../../src/security/api/operations.ts";
import { openEmbeddedDatabase } from "../../support/servers/databases.ts";
import { toolsStage, type ToolsStage } from "../../support/security/tools-api.ts";

let stage: ToolsStage;
beforeAll(async () => {
  stage = await toolsStage(openEmbeddedDatabase);
}, 60_000);
afterAll(() => stage[Symbol.asyncDispose]());

describe("an answer", () => {
  test("the answer of a success has only success, data and message", async () => {
    const { status, headers, body } = await stage.api.call("list_my_tickets");
    expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
      200,
      expect.stringContaining("application/json"),
      "no-store",
    ]);
    expect(Object.keys(body)).toEqual(["success", "data", "message"]);
    expect([body["success"], typeof body["message"]]).toEqual([true, "string"]);
  });

  test("the answer of a failure has only success and error", async () => {
    const { status, body } = await stage.api.call("list_my_tickets", { limit: 0 });
    expect(status).toBe(400);
    expect(body).toEqual({ success: false, error: 'The field "limit" is 0: a whole number from 1 to 200 is needed' });
  });

  test("every answer has the request's id in a header", async () => {
    const ids = await Promise.all([1, 2].map(async () => (await stage.api.call("get_active_scope")).headers.get("x-request-id")));
    expect(ids.every((id) => /^req-[2-7a-z]{26}$/.test(id ?? ""))).toBe(true);
    expect(ids[0]).not.toBe(ids[1] ?? null);
  });
});

describe("the error says what to change for", () => {
  const text = "a text of 1 to 8000 characters (no control characters) is needed";
  test.each([
    ["an unknown field", { mesage: "x" }, 'There is no field "mesage": the nearest known field is "message"'],
    ["a field that is missing", {}, `The field "message" is missing: ${text}`],
    ["an explicit null where the field is required", { message: null }, `The field "message" is null: ${text}`],
    [
      "an explicit null that is not allowed",
      { message: "x", rating: null },
      'The field "rating" is null: a whole number from 1 to 5 is needed; leave the field out to mean none',
    ],
    ["a number for a text", { message: 5 }, `The field "message" is 5: ${text}`],
    ["a list for a text", { message: ["x"] }, `The field "message" is a list: ${text}`],
    ["an object for a text", { message: {} }, `The field "message" is an object: ${text}`],
    ["an empty text", { message: "" }, `The field "message" is "": ${text}`],
    ["a text that is too long", { message: "x".repeat(8_001) }, `The field "message" is a text of 8001 characters: ${text}`],
    ["a control character", { message: "a\u0000b" }, `The field "message" is a text of 3 characters: ${text}`],
    [
      "a word that is not in the list",
      { message: "x", type: "wish" },
      'The field "type" is "wish": one of feedback, feature_request, praise, complaint is needed',
    ],
    ["a number out of its range", { message: "x", rating: 6 }, 'The field "rating" is 6: a whole number from 1 to 5 is needed'],
    ["a fraction", { message: "x", rating: 1.5 }, 'The field "rating" is 1.5: a whole number from 1 to 5 is needed'],
    ["a number as a text", { message: "x", rating: "5" }, 'The field "rating" is "5": a whole number from 1 to 5 is needed'],
    ["a field that JavaScript has of itself", { message: "x", toString: 1 }, /^There is no field "toString"/],
    ["a name that means another prototype", '{"message":"x","__proto__":{"rating":9}}', /^There is no field "__proto__"/],
  ])("%s", async (_what, body, sentence) => {
    const error = await stage.api.refusal("submit_feedback", body);
    if (typeof sentence === "string") expect(error).toBe(sentence);
    else expect(error).toMatch(sentence);
  });

  test.each([
    ["no body", null, {}, "The body is missing: send a JSON object, {} where no field is required"],
    ["an empty body", "", {}, "The body is missing: send a JSON object, {} where no field is required"],
    ["a body that is a list", "[]", {}, "The request body must be a JSON object: send the fields as one JSON object"],
    ["a body that is a text", '"x"', {}, "The request body must be a JSON object: send the fields as one JSON object"],
    ["a body that is null", "null", {}, "The request body must be a JSON object: send the fields as one JSON object"],
    ["a body that is no JSON", "{", {}, "The request body is not valid JSON: send the fields as one JSON object"],
    ["two objects", "{}{}", {}, "The request body is not valid JSON: send the fields as one JSON object"],
    ["half a character", '{"limit":"\\ud800"}', {}, /surrogate pair/],
    ["a body that is no UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), {}, /not valid UTF-8/],
    ["a body that is nested without end", "[".repeat(100_000), {}, /nested deeper than 64 levels/],
    [
      "another content type",
      "{}",
      { "content-type": "text/plain" },
      'The header Content-Type is "text/plain": send application/json',
    ],
    ["a form", "a=b", { "content-type": "application/x-www-form-urlencoded" }, /send application\/json$/],
    [
      "no content type",
      "{}",
      { "content-type": "" },
      /^The header Content-Type (is missing|is "text\/plain;charset=UTF-8"): send application\/json$/,
    ],
    ["a compressed body", "{}", { "content-encoding": "gzip" }, "The body is compressed: send it as it is"],
  ])("%s", async (_what, body, headers, sentence) => {
    const error = await stage.api.refusal("get_active_scope", body, { headers });
    if (typeof sentence === "string") expect(error).toBe(sentence);
    else expect(error).toMatch(sentence);
  });

  test("a body of more than 1 MiB", async () => {
    const error = await stage.api.refusal("get_active_scope", new Uint8Array(toolsBodyBytesMax + 1));
    expect(error).toBe(`The body is too large: send at most ${toolsBodyBytesMax} bytes`);
  });

  test("a document with more than 1 MiB beside it, and more than 1 MiB without one", async () => {
    const refusal = (body: string) => stage.api.refusal("upload_sbom", body);
    const sbom = { bomFormat: "CycloneDX" };
    expect(await refusal(JSON.stringify({ sbom, project: "p".repeat(toolsBodyBytesMax) }))).toBe(
      `The body is too large: send at most ${toolsBodyBytesMax} bytes in addition to the document at "sbom"`,
    );
    expect(await refusal(JSON.stringify({ project: "p".repeat(toolsBodyBytesMax) }))).toBe(
      `There is no document at "sbom" in the body: without one, send at most ${toolsBodyBytesMax} bytes`,
    );
  });

  test("a charset and characters that JavaScript counts twice are accepted", async () => {
    const headers = { "content-type": "Application/JSON; charset=utf-8" };
    const { status } = await stage.api.call("submit_feedback", { message: "😀".repeat(8_000) }, { headers });
    expect(status).toBe(200);
  });
});

test.each([
  "/api/tools/platform_none",
  "/api/tools/submit_feedback",
  "/api/tools/",
  "/api/tools",
  "/api/tools/acme_submit_feedback",
])("the unknown operation %s is answered with 404 and the failure envelope, with or without a key", async (path) => {
  for (const sent of [{}, { key: null }]) {
    const { status, body } = await stage.api.send(path, {}, sent);
    expect([status, body]).toEqual([404, { success: false, error: `There is no operation ${path}: /openapi.json lists all` }]);
  }
});

test.each(["GET", "PUT", "DELETE", "PATCH"])(
  "%s on an operation is answered with 405 and the failure envelope",
  async (method) => {
    const { status, headers, body } = await stage.api.call("list_my_tickets", null, { method });
    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
    expect(body).toEqual({ success: false, error: `Cannot ${method} /api/tools/platform_list_my_tickets: it takes POST` });
  },
);

test("an internal error is answered with 500 and the failure envelope, and only the log has the cause", async () => {
  await stage.database.sql`ALTER TABLE tickets RENAME TO hidden`;
  try {
    const { status, body } = await stage.api.call("list_my_tickets");
    expect([status, body]).toEqual([500, { success: false, error: "An unexpected error occurred" }]);
    expect(stage.api.logged.at(-1)).toContain("tools.failed");
  } finally {
    await stage.database.sql`ALTER TABLE hidden RENAME TO tickets`;
  }
});

test("every operation describes each of its fields, and names the nearest field for a mistyped one", async () => {
  for (const { name, input, description } of operations) {
    expect(description.endsWith(".")).toBe(true);
    for (const [field, schema] of Object.entries(input.properties))
      expect(`${field}: ${String(schema.title)}`).not.toEndWith("undefined");
    const error = await stage.api.refusal(name, { definitely_unknown: 1 });
    expect(error).toStartWith('There is no field "definitely_unknown": ');
  }
});

describe("the active scope", () => {
  test("the scope of a new key is its whole workspace", async () => {
    expect(await stage.api.data("get_active_scope")).toEqual({ kind: "workspace", id: null });
  });

  test.each([
    [{ kind: "workspace", id: "x" }, 'The field "id" goes with a product or a project: leave it out for the workspace'],
    [{ kind: "product" }, 'The field "id" is missing: the id of a product is needed'],
    [{ kind: "project", id: "prj_none" }, 'There is no project with the id "prj_none"'],
    [{}, 'The field "kind" is missing: one of workspace, product and project is needed'],
  ])("the scope cannot be set to %j", async (body, sentence) => {
    expect(await stage.api.refusal("set_active_scope", body)).toBe(sentence);
  });

  test("the scope can be set to the workspace", async () => {
    expect(await stage.api.data("set_active_scope", { kind: "workspace" })).toEqual({ kind: "workspace", id: null });
  });
});
