import { expect, test } from "bun:test";
import { csvResponse } from "../../src/http/csv-response.ts";

test("a text that a spreadsheet would run stays text, also after spaces and in wide characters, and numbers stay numbers", async () => {
  const rows = ["=1+1", " =1+1", "\n=1+1", "＝1+1", "＠SUM(1)", "-2.50", "a;=1"].map((text) => [text]);
  const file = csvResponse({ name: 'a"\r\nx: y', columns: ["name"], rows });
  expect(await file.text()).toBe(`name\r\n'=1+1\r\n' =1+1\r\n"'\n=1+1"\r\n'＝1+1\r\n'＠SUM(1)\r\n-2.50\r\na;=1\r\n`);
  expect(file.headers.get("content-disposition")).toBe('attachment; filename="a-x-y.csv"');
});
