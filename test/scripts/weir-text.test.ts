/** What the command line prints, without a service. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { completionVerb } from "../../scripts/weir/completion.ts";
import { exampleOf } from "../../scripts/weir/example.ts";
import { printLog } from "../../scripts/weir/print-log.ts";
import { readCommand } from "../../scripts/weir/read-command.ts";
import { fitTable, wrapText } from "../../scripts/weir/terminal-text.ts";
import { verbs } from "../../scripts/weir/verbs.ts";

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
