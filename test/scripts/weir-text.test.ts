/** What the command line prints, without a service. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { completionVerb } from "../../scripts/weir/completion.ts";
import { exampleOf, readCommand } from "../../scripts/weir/read-command.ts";
import { printLog } from "../../scripts/weir/verbs/usage.ts";
import { fitTable, wrapText } from "../../scripts/weir/print.ts";
import { showInvisible } from "../../src/kernel/text.ts";
import { run } from "../../scripts/weir/run.ts";
import { verbs } from "../../scripts/weir/verbs.ts";

/** The outcome of a command that must not need a service. */
async function outcomeOf(...words: string[]): Promise<{ code: number; out: string; error: string }> {
  const outcome = { out: "", error: "" };
  const terminal = {
    out: (text: string) => void (outcome.out += `${text}\n`),
    error: (text: string) => void (outcome.error += `${text}\n`),
  };
  const service = (): never => {
    throw new Error("It was sent");
  };
  return { code: await run(words, { service, files: () => ({ catalogDir: "" }) }, terminal), ...outcome };
}

/** The words of a POSIX shell's line. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
}

test("the example of every verb names the verb, and its flags are known and complete", () => {
  for (const verb of verbs) {
    const words = wordsOf(exampleOf(verb)).slice("npm run -s weir --".split(" ").length);
    const filesAreThere = !verb.flags.some(({ required, value }) => required && value.placeholder === "FILE|-");
    if (filesAreThere && verb.noun !== "completion")
      expect(readCommand(words)).toMatchObject({ verb: { noun: verb.noun, verb: verb.verb } });
  }
});

describe("wrong usage exits with 2, and sends nothing", () => {
  test.each([
    [[], "a noun and a verb are missing; --help lists them"],
    [["key"], "a verb of key is missing; --help lists them"],
    [["kye", "list"], 'There is no noun "kye": the nearest is "key"'],
    [["key", "crate"], 'There is no key verb "crate": the nearest is "create"'],
    [["key", "list", "--wrokspace", "w"], 'There is no flag "--wrokspace": the nearest is "--workspace"'],
    [["key", "list", "w"], 'Cannot take "w": values are given by flags'],
    [["key", "show"], "--id ID is missing\nExample: npm run -s weir -- key show --id key-…"],
    [
      ["member", "add", "--role", "member"],
      "--workspace TEXT and --email EMAIL are missing\nExample: npm run -s weir -- member add --workspace default --email ada@example.com --role member",
    ],
    [
      ["sbom", "upload", "--project", "p"],
      "PATH and --workspace TEXT are missing\nExample: npm run -s weir -- sbom upload sbom.json --workspace default --project web-shop",
    ],
    [
      ["key", "create"],
      '--workspace TEXT and --owner EMAIL are missing\nExample: npm run -s weir -- key create --workspace default --owner owner@localhost --name "my app" --limit 25 --rpm 60',
    ],
    [
      ["key", "create", "--as", "o"],
      '--workspace TEXT is missing\nExample: npm run -s weir -- key create --workspace default --owner owner@localhost --name "my app" --limit 25 --rpm 60',
    ],
    [["completion", "tcsh"], '"tcsh" is not one of bash, zsh, fish'],
    [["log", "list", "--from", "2026-11-20T00:00:00Z", "--since", "1h"], "--from and --since say the same: give one of them"],
    [["log", "list", "--limit"], "--limit needs a value"],
    [["log", "list", "--workspace", "--json"], "--workspace needs a value"],
    [["log", "list", "--json=yes"], "--json takes no value"],
    [
      ["credit", "add", "--workspace", "w", "--usd", "-5", "--ref", "r"],
      '--usd takes an amount above zero, such as 12.50, and not "-5"',
    ],
    [
      ["credit", "add", "--workspace", "w", "--usd", "0.00", "--ref", "r"],
      '--usd takes an amount above zero, such as 12.50, and not "0.00"',
    ],
    [
      ["key", "create", "--workspace", "w", "--owner", "o", "--limit", "lots"],
      '--limit takes an amount of USD such as 12.50, or none, and not "lots"',
    ],
    [["key", "show", "--id", "a", "--id", "b"], "--id is given twice"],
    [["key", "create", "--workspace", "w", "--owner", "o", "--rpm", "many"], '--rpm: "many" is not a whole number'],
    [["key", "create", "--workspace", "w", "--owner", "o", "--kind", "tool"], '--kind: "tool" is not one of inference, tools'],
    [["workspace", "set", "--workspace", "w", "--enabled", "yes"], '--enabled: "yes" is neither on nor off'],
    [
      ["member", "add", "--workspace", "w", "--email", "e", "--role", "boss"],
      '--role: "boss" is not one of member, auditor, admin, super_admin',
    ],
  ])("%j", async (words, message) => {
    expect(await outcomeOf(...words)).toEqual({ code: 2, out: "", error: `weir: ${message}\n` });
  });
});

test("the log ends with the sums of what is shown, and says how to go on", () => {
  const row = { at: "2026-11-26T00:00:00Z", model: "m", prompt_tokens: 2, completion_tokens: 3, duration_ms: 5, member: null };
  const data = [
    { ...row, status: 200, code: null, cost_usd: "0.100000000", generation_id: "gen-b" },
    { ...row, status: 502, code: "upstream_error", cost_usd: "0.200000001", generation_id: "gen-a" },
  ];
  const lines = printLog({ data, next: "gen-a", searched: 7 }).split("\n");
  expect(lines[3]).toMatch(/^\(total of 2\) +1 failed +0\.300000001 +4 +6$/);
  expect(lines.slice(4)).toEqual(["7 generations were read to find them", "Older ones: --before gen-a. Sums of all: weir usage"]);
});

test("ages of --since count back from now, and a date is its first moment", () => {
  const fromOf = (since: string) => Object(readCommand(["log", "list", "--since", since])).fields.from;
  expect(fromOf("2026-11-20")).toBe("2026-11-20T00:00:00Z");
  expect(Math.abs(Date.parse(fromOf("90m")) - (Date.now() - 90 * 60_000))).toBeLessThan(60_000);
});

describe("on a terminal", () => {
  const screen = { width: 40, colours: true };

  test("the head of a table is bold, and lines end where the screen ends", () => {
    expect(fitTable(`ID\n${"x".repeat(50)}`, screen)).toBe(`\x1b[1mID\x1b[22m\n${"x".repeat(39)}…`);
  });

  test("long sentences go on below their column, and a command to copy stays whole", () => {
    const example = `Example: ${"word ".repeat(12)}`;
    expect(wrapText(`--flag TEXT  which of them it is that opens the API\n${example}`, screen)).toBe(
      `--flag TEXT  which of them it is that\n             opens the API\n${example}`,
    );
  });
});

test("bash completes nouns, verbs, flags and the words that a flag takes", async () => {
  const { text } = await completionVerb(verbs).local({ shell: "bash" }, { catalogDir: "" });
  const cases = [
    ["ke"],
    ["key", ""],
    ["key", "create", "--ki"],
    ["key", "create", "--kind", ""],
    ["usage", "--since", "7d", "--b"],
  ];
  const calls = cases.map((words) => {
    const typed = words.map((word) => `'${word}'`).join(" ");
    return `COMP_WORDS=(weir ${typed}); COMP_CWORD=${words.length}; _weir; echo "\${COMPREPLY[*]}"`;
  });
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", [text, ...calls].join("\n")], { encoding: "utf8" });
  expect([stdout, stderr]).toEqual(["key\ncreate list show edit revoke\n--kind\ninference tools\n--by\n", ""]);
  const fish = await completionVerb(verbs).local({ shell: "fish" }, { catalogDir: "" });
  expect(fish.text).toContain("-l kind -r -f -a 'inference tools'");
});

test("a secret that was typed where a file is meant is not repeated, neither alone nor within JSON", async () => {
  const secret = "sk-or-v1-0123456789abcdef";
  const typed = [
    ["provider-key", "create", "--workspace", "w", "--provider", "openai", "--key", secret],
    ["connection", "create", "--workspace", "w", "--connector", "c", "--credentials", `{"token":"${secret}"}`],
  ];
  for (const words of typed) {
    const { code, out, error } = await outcomeOf(...words);
    expect([code, out, error.includes(secret)]).toEqual([2, "", false]);
    expect(error).toContain("takes the path of a file that has");
  }
});

test("marks that turn the direction of writing, and invisible ones, are shown as escapes; joiners of words and signs stay", () => {
  const marks = ["\u202e", "\u2066", "\u200f", "\u061c", "\u200b", "\u2028", "\ufeff", "\u{e0041}"];
  const shown = showInvisible(marks.join("a"));
  expect(shown).toBe("\\u202ea\\u2066a\\u200fa\\u061ca\\u200ba\\u2028a\\ufeffa\\udb40\\udc41");
  const json = JSON.stringify({ name: marks.join("") });
  expect(JSON.parse(showInvisible(json))).toEqual(JSON.parse(json));
  const joined = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u{1f469}\u200d\u{1f4bb} e\u0301";
  expect(showInvisible(joined)).toBe(joined);
});
