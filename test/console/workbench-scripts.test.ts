/** What the Workbench's scripts do without a page: a model's Markdown as blocks, what a browser keeps, two answers in words, a request as code. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";

/** Runs scripts of the Workbench as a browser would. @returns a function that evaluates an expression with them, with a plain result */
function loaded(...names: string[]): <Result>(expression: string, values?: Record<string, unknown>) => Result {
  const folder = new URL("../../src/console/pages/inference/workbench/", import.meta.url);
  const text = names.map((name) => readFileSync(new URL(`${name}.js`, folder), "utf8")).join("\n");
  return (expression, values = {}) => {
    const context = { URL, workbench: {}, encodeURIComponent, ...values };
    return JSON.parse(String(runInNewContext(`${text};JSON.stringify(${expression})`, context)));
  };
}

interface Block {
  type: string;
  [field: string]: unknown;
}

interface Inline {
  type: string;
  text?: string;
  href?: string;
  nodes?: Inline[];
}

describe("a model's Markdown", () => {
  const evaluate = loaded("markdown");
  const blocks = (text: string) => evaluate<Block[]>("workbench.readBlocks(text.split('\\n'))", { text });
  const inline = (text: string) => evaluate<Inline[]>("workbench.inlineOf(text)", { text });
  const words = (nodes: Inline[]): string => nodes.map(({ text, nodes: inner = [] }) => text ?? words(inner)).join("");
  const links = (nodes: Inline[]): string[] => nodes.flatMap(({ href, nodes: inner = [] }) => (href ? [href] : links(inner)));

  test("has headings, paragraphs, code with its language, rules and quotes", () => {
    const text = "# Title ##\nOne\ntwo\n\n```ts title\nlet a;\n  b\n```\n---\n> Said\n> ~~~\n> code";
    expect(blocks(text)).toMatchObject([
      { type: "heading", level: 1, text: "Title", line: 0 },
      { type: "paragraph", text: "One\ntwo", line: 1 },
      { type: "code", language: "ts", text: "let a;\n  b", isClosed: true, line: 4 },
      { type: "rule" },
      {
        type: "quote",
        blocks: [
          { type: "paragraph", text: "Said" },
          { type: "code", text: "code", isClosed: false },
        ],
      },
    ]);
  });

  test("has lists within lists, also with blank lines and code between, and tables", () => {
    const text =
      "3. One\n  - Inner\n    more\n\n   ```\n   code\n   ```\n4. Two\n\n| a | b\\|c |\n|:-:|---|\n| 1 | |\n| 2 |\nEnd";
    expect(blocks(text)).toMatchObject([
      {
        type: "list",
        isOrdered: true,
        start: 3,
        items: [
          [
            { type: "paragraph", text: "One" },
            { type: "list", isOrdered: false, items: [[{ type: "paragraph", text: "Inner\nmore" }]] },
            { type: "code", text: "code" },
          ],
          [{ type: "paragraph", text: "Two" }],
        ],
      },
      {
        type: "table",
        head: ["a", "b|c"],
        rows: [
          ["1", ""],
          ["2", ""],
        ],
      },
      { type: "paragraph", text: "End" },
    ]);
  });

  test("has bold, italic, struck out and code, and leaves names with underscores, sums and lone marks as they are", () => {
    const types = (text: string) => inline(text).map(({ type, text: own, nodes = [] }) => [type, own ?? words(nodes)]);
    expect(types("a **b *c*** `x  y` ~~d~~")).toMatchObject([
      ["text", "a "],
      ["strong", "b c"],
      ["text", " "],
      ["code", "x  y"],
      ["text", " "],
      ["del", "d"],
    ]);
    for (const text of ["some_long_name", "2 * 3 * 4", "a ** b", "*open", "`open", "[open](", "<b>no</b>"])
      expect(words(inline(text))).toBe(text);
    expect(links(inline("some_long_name"))).toEqual([]);
    expect(words(inline("\\*not\\* italic"))).toBe("*not* italic");
  });

  test("links to http and https alone, and shows any other address", () => {
    const text = '[one](https://a.example/x_(y) "title") <http://b.example> https://c.example/d, ![pic](https://e.example/f.png)';
    expect(links(inline(text))).toEqual([
      "https://a.example/x_(y)",
      "http://b.example/",
      "https://c.example/d",
      "https://e.example/f.png",
    ]);
    expect(words(inline(text))).toContain("Image: pic");
    const hostile = [
      "javascript:alert(1)",
      "JaVaScRiPt:alert(1)",
      "data:text/html,x",
      "//evil.example",
      "file:///etc/passwd",
      "vbscript:x",
    ];
    for (const address of hostile) {
      const nodes = inline(`[click](${address}) ![see](${address})`);
      expect([address, links(nodes)]).toEqual([address, []]);
      expect(words(nodes)).toBe(`click (${address}) Image: see (${address})`);
    }
  });

  test("of a megabyte that is made to be slow is read", () => {
    const hostile = [
      "[",
      "*",
      "_a",
      "`",
      "``a",
      "> ",
      "- ",
      "![](",
      "<http://",
      "#",
      "|",
      "1. ",
      "~~~\n",
      "- a\n\n",
      "a|b\n-|-\n",
    ];
    for (const piece of hostile)
      expect([piece, blocks(piece.repeat(1_000_000 / piece.length)).length > 0]).toEqual([piece, true]);
    for (const piece of hostile) expect(words(inline(piece.repeat(20_000 / piece.length))).length).toBeGreaterThan(0);
  });
});

describe("what a browser keeps", () => {
  const evaluate = loaded("kept");

  /** The storage of a browser, with room for so many characters. */
  class Shelf {
    readonly items = new Map<string, string>();
    readonly room: number;

    constructor(room = 5_000_000) {
      this.room = room;
    }

    get length(): number {
      return this.items.size;
    }
    key(index: number): string | null {
      return [...this.items.keys()][index] ?? null;
    }
    getItem(key: string): string | null {
      return this.items.get(key) ?? null;
    }
    setItem(key: string, value: string): void {
      const others = [...this.items].filter(([one]) => one !== key).reduce((sum, [, text]) => sum + text.length, 0);
      if (others + value.length > this.room) throw new Error("QuotaExceededError");
      this.items.set(key, value);
    }
    removeItem(key: string): void {
      this.items.delete(key);
    }
  }

  const script =
    "const kept = (workspace, person = 'ann@example.test') => new workbench.Kept({ workspace, person, lasting, ofTab });";
  const run =
    "const run = (words, at = '2026-11-28T10:00:00Z') => ({ at, models: ['m'], form: { turns: [{ content: words }] }, answers: [{ text: words, thoughts: '', logprobs: [1] }] });";
  const inBrowser = <Result>(
    body: string,
    { lasting = new Shelf(), ofTab = new Shelf() }: { lasting?: Shelf | null; ofTab?: Shelf | null } = {},
  ) =>
    evaluate<Result>(
      `(() => { ${script} ${run} const wordsOf = (all) => all.map(({ answers }) => answers[0].text); ${body} })()`,
      { lasting, ofTab },
    );

  test("stays apart by workspace and person, and clearing it touches no other", () => {
    const lasting = new Shelf();
    lasting.setItem("other", "1");
    const body = `const [own, other, theirs] = [kept("ws-1"), kept("ws-2"), kept("ws-1", "bob@example.test")];
      own.addRun(run("mine")); other.addRun(run("elsewhere")); own.addPreset("p", run("preset"));
      const seen = [own, other, theirs].map((one) => wordsOf(one.runs));
      own.clearRuns();
      return [seen, own.runs.length, own.presets.length, wordsOf(other.runs)];`;
    expect(inBrowser<unknown>(body, { lasting })).toEqual([[["mine"], ["elsewhere"], []], 0, 1, ["elsewhere"]]);
    expect(lasting.getItem("other")).toBe("1");
  });

  test("has the newest runs first whatever the clock says, also those of another tab, and at most 50", () => {
    const body = `const [one, other] = [kept("ws"), kept("ws")];
      one.addRun(run("first", "2030-01-01T00:00:00Z")); other.addRun(run("second", "1999-01-01T00:00:00Z"));
      const both = wordsOf(one.runs);
      for (let count = 0; count < 60; count++) one.addRun(run(String(count)));
      return [both, one.runs.length, wordsOf(other.runs)[0]];`;
    expect(inBrowser<unknown>(body)).toEqual([["second", "first"], 50, "59"]);
  });

  test("is bounded in size: long answers are cut, the oldest runs go, and what cannot be kept is not", () => {
    const body = `const one = kept("ws");
      one.addRun(run("x".repeat(300_000)));
      const [{ answers: [cut] }] = one.runs;
      for (let count = 0; count < 9; count++) one.addRun(run("y".repeat(190_000)));
      const isKept = one.addRun({ ...run("z"), form: "f".repeat(1_100_000) });
      return [cut.text.length, cut.isCut, cut.logprobs, wordsOf(one.runs).every((words) => words[0] === "y"), one.runs.length, isKept];`;
    const lasting = new Shelf();
    expect(inBrowser<unknown>(body, { lasting })).toEqual([200_000, true, [], true, 2, false]);
    expect([...lasting.items.values()].join("").length).toBeLessThan(1_000_000);
  });

  test("makes room in a full storage, and keeps nothing in one that is too small, broken or forbidden", () => {
    const full = new Shelf(1_000);
    expect(
      inBrowser<unknown>(
        `const one = kept("ws"); for (let count = 0; count < 20; count++) one.addRun(run(String(count)));
      return [wordsOf(one.runs)[0], one.runs.length < 20];`,
        { lasting: full },
      ),
    ).toEqual(["19", true]);
    const tiny = { lasting: new Shelf(10), ofTab: new Shelf(10) };
    const all = `const one = kept("ws"); return [one.addRun(run("a")), one.addPreset("p", run("b")) !== null, one.keepDraft({ a: "long enough" }), one.draft, one.runs];`;
    expect(inBrowser<unknown>(all, tiny)).toEqual([false, true, false, null, []]);
    expect(inBrowser<unknown>(all, { lasting: null, ofTab: null })).toEqual([false, true, false, null, []]);
    const broken = new Shelf();
    broken.setItem("weir.workbench/ws/ann%40example.test/run/000000000001-a", "{");
    expect(
      inBrowser<unknown>(`const one = kept("ws"); return [one.runs, one.addRun(run("a")), one.runs.length];`, {
        lasting: broken,
      }),
    ).toEqual([[], true, 1]);
  });

  test("is nothing once it is switched off, and a preset replaces that of its name", () => {
    const body = `const one = kept("ws"); one.keepsRuns = false;
      const added = one.addRun(run("a")); one.addPreset("p", run("old")); one.addPreset("p", run("new"));
      const again = kept("ws");
      const off = again.keepsRuns; again.keepsRuns = true;
      return [added, off, one.keepsRuns, one.presets.map(({ name, form }) => [name, form.turns[0].content]), one.addPreset("n".repeat(81), run("a"))];`;
    expect(inBrowser<unknown>(body)).toEqual([false, false, true, [["p", "new"]], "A name has at most 80 characters."]);
  });
});

test("two answers are compared in words, by what is known of both", () => {
  const evaluate = loaded("answer");
  const first = { state: "done", cost: "0.001", tokens: [10, 100], firstMs: 100, totalMs: 1_100 };
  const told = (second: object, one: object = first) =>
    evaluate<string | null>("workbench.comparisonOf(one, second)", { one, second });
  expect(told({ ...first, cost: "0.0038", totalMs: 2_200, tokens: [10, 210] })).toBe(
    "Compared with answer 1, answer 2 cost 3.8 times as much, took 2 times as long and wrote as many tokens a second.",
  );
  expect(told({ ...first, cost: "0.00026", firstMs: 50, totalMs: 550 })).toBe(
    "Compared with answer 1, answer 2 cost 74 % less, took 50 % less time and wrote 2 times as many tokens a second.",
  );
  expect(told({ ...first, cost: "0.0014", totalMs: 1_100 })).toContain("cost 40 % more, took as long");
  // An own key's call costs nothing here, and a whole answer at once has no speed.
  expect(told({ ...first, cost: "0.000000000", firstMs: null })).toBe("Compared with answer 1, answer 2 took as long.");
  for (const state of ["stopped", "failed"]) expect(told({ ...first, state })).toBeNull();
  expect(evaluate("workbench.comparisonOf(one, undefined)", { one: first })).toBeNull();
});

test("a search of models takes words of id and name in any order", () => {
  const evaluate = loaded("picker");
  const options = ["openai/gpt-5.4", "openai/gpt-5.4-mini", "anthropic/claude-opus-5"].map((value) => ({
    value,
    dataset: { name: value.split("/")[1] },
  }));
  const found = (search: string) =>
    evaluate<{ value: string }[]>("workbench.matchesOf(options, search)", { options, search }).map(({ value }) => value);
  expect(found("MINI openai")).toEqual(["openai/gpt-5.4-mini"]);
  expect([found("").length, found("opus  5"), found("none")]).toEqual([3, ["anthropic/claude-opus-5"], []]);
});

describe("a request as code", () => {
  const evaluate = loaded("code");
  const leftOut = (api: string, chat: object) => evaluate<string[]>("workbench.leftOut(api, chat)", { api, chat });
  const python = (chat: object) =>
    evaluate<string>(
      'workbench.programOf({ template: "f(\\n{body})", notation: "keywords", api: "chat" }, chat, { streams: true })',
      { chat },
    );

  test("names what an API does not have", () => {
    const chat = {
      messages: [],
      temperature: 1,
      seed: 7,
      stop: ["a"],
      response_format: { type: "json_object" },
      tools: [{ type: "custom" }],
    };
    expect(leftOut("chat", chat)).toEqual([]);
    expect(leftOut("messages", chat)).toEqual(["temperature", "seed", "response_format", "custom tools"]);
    expect(leftOut("responses", chat)).toEqual(["seed", "stop"]);
  });

  test("is Python with its own words for JSON's, texts unchanged, and unknown fields in extra_body", () => {
    const chat = {
      model: "m",
      messages: [{ role: "user", content: 'null "true" \\ false' }],
      logprobs: true,
      provider: { zdr: false },
    };
    expect(python(chat).split("\n")).toEqual([
      "f(",
      '    model="m",',
      "    messages=[",
      "        {",
      '            "role": "user",',
      '            "content": "null \\"true\\" \\\\ false"',
      "        }",
      "    ],",
      "    logprobs=True,",
      "    stream=True,",
      "    extra_body={",
      '        "provider": {',
      '            "zdr": False',
      "        }",
      "    },",
      ")",
    ]);
  });
});

test("the parameters of a stored request are in their places of the form, and what has none is among the other fields", () => {
  const evaluate = loaded("request");
  const placed = (fields: Record<string, unknown>) => evaluate<Record<string, string>>("workbench.placed(fields)", { fields });
  const tool = { type: "function", function: { name: "weather" } };
  const json_schema = { name: "answer", strict: true, schema: { type: "object" } };
  const { tools, schema, ...rest } = placed({
    temperature: 0.5,
    max_tokens: 12,
    seed: 7,
    stop: ["END", "STOP"],
    reasoning_effort: "low",
    logprobs: true,
    top_logprobs: 3,
    cache_control: { type: "ephemeral" },
    tools: [tool],
    tool_choice: { type: "function", function: { name: "weather" } },
    parallel_tool_calls: false,
    response_format: { type: "json_schema", json_schema },
  });
  expect([JSON.parse(tools ?? ""), JSON.parse(schema ?? "")]).toEqual([[tool], json_schema]);
  expect(rest).toEqual({
    temperature: "0.5",
    max_tokens: "12",
    seed: "7",
    stop: "END\nSTOP",
    reasoning_effort: "low",
    top_logprobs: "3",
    cache_control: "on",
    choice: "function:weather",
    parallel_tool_calls: "false",
    format: "json_schema",
  });
  const others = { stop: ["two\nlines"], logprobs: true, cache_control: { type: "ephemeral", ttl: "1h" }, logit_bias: { 1: 2 } };
  const { other = "", ...none } = placed({ ...others, constructor: "a" });
  expect([JSON.parse(other), none]).toEqual([{ ...others, constructor: "a" }, {}]);
});
