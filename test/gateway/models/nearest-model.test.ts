import { describe, expect, test } from "bun:test";
import { modelNotFoundMessage, nearestModel } from "../../../src/gateway/models/nearest-model.ts";

const models = [
  { id: "openai/gpt-4o", published: true },
  { id: "openai/gpt-4o-mini", published: true },
  { id: "acme/secret-model", published: false },
  { id: "z-ai/glm-5.2", published: true },
  { id: "sandbox/echo", published: true },
];

describe("an unknown model id", () => {
  test.each([
    ["a name without its maker", "gpt-4o", "openai/gpt-4o"],
    ["another case", "OpenAI/GPT-4o", "openai/gpt-4o"],
    ["a letter too few", "openai/gpt4o", "openai/gpt-4o"],
    ["two letters swapped", "opneai/gpt-4o-mini", "openai/gpt-4o-mini"],
    ["a dash in place of a point", "glm-5-2", "z-ai/glm-5.2"],
  ])("with %s, %s, means the nearest model", (_, id, meant) => {
    expect(nearestModel(id, models)).toBe(meant);
  });

  test.each([
    ["another name", "acme/none"],
    ["a short name", "o1"],
    ["an unpublished model", "acme/secret-modell"],
    ["an unpublished model's own id", "acme/secret-model"],
    ["nothing", ""],
    ["an id of 201 letters", "m".repeat(201)],
  ])("that is %s means no model", (_, id) => {
    expect(nearestModel(id, models)).toBeNull();
  });

  test("the message names the nearest model and ends with the requested id", () => {
    const message = modelNotFoundMessage("gpt-4o", "openai/gpt-4o");
    expect(message).toBe("Did you mean openai/gpt-4o? There is no model with the id gpt-4o");
    expect(modelNotFoundMessage("acme/none", null)).toBe("There is no model with the id acme/none");
  });

  test("an id longer than any of the catalog is not compared with the models", () => {
    function* never(): Generator<{ id: string; published: boolean }> {
      yield* [];
      throw new Error("compared");
    }
    expect(nearestModel("m".repeat(201), never())).toBeNull();
  });
});
