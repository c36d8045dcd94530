/** The facts of a connector have exactly one text, so that a diff shows only facts and exports are stable to the byte. */
import { describe, expect, test } from "bun:test";
import { judgeConnectors } from "../../../../src/connectors/catalog/files/judge.ts";
import { formatProblem } from "../../../../src/connectors/catalog/files/read-file.ts";
import { filesOf, sampleConnector } from "../sample.ts";

const file = "connectors/acme-directory.json";

describe("the check refuses a text that would make the output unstable", () => {
  const [connector] = filesOf([sampleConnector()]).connectors;
  const text = connector?.text ?? "";
  const judged = (changed: string) =>
    judgeConnectors({ ...filesOf([]), connectors: [{ name: file, text: changed }] }).problems.map(formatProblem);

  test.each([
    [
      "fields in another order",
      text.replace(/( {2}"id".*\n)( {2}"slug".*\n)/, "$2$1"),
      'line 2 would make the order unstable: write "  \\"id\\"',
    ],
    [
      "scopes in another order",
      text.replace(/( *"groups.read"),\n( *"users.read")/, "$2,\n$1"),
      "line 40 would make the order unstable",
    ],
    ["methods in another order", text.replace(/( *"api_token"),\n( *"mcp")/, "$2,\n$1"), "line 11 would make the order unstable"],
    [
      "sources in another order",
      text.replaceAll('acme.example/mcp",\n', 'acme.example/aaa",\n'),
      "line 54 would make the order unstable",
    ],
    ["a field that occurs twice", text.replace(/( {2}"vendor".*\n)/, "$1$1"), "line "],
    ["carriage returns", text.replaceAll("\n", "\r\n"), 'line 1 would make the order unstable: write "{"'],
    ["no line break at its end", text.trimEnd(), "line "],
    ["an empty line at its end", `${text}\n`, "has more lines than its facts need"],
    ["another indentation", JSON.stringify(JSON.parse(text)), "line 1"],
  ])("%s", (_, changed, message) => {
    expect(changed).not.toBe(text);
    const found = judged(changed);
    expect(found).toHaveLength(1);
    expect(found[0]).toStartWith(`${file}: ${message}`);
  });

  test("a text that is not JSON", () => {
    expect(judged(text.slice(1)).join()).toStartWith(`${file}: is not JSON: `);
  });
});
