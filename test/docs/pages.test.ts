/** What holds for every page of docs/: its length with the others, its links and its blocks of code. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { checks, pythonProblems, reasonOf } from "./block-checks.ts";
import { blocksOf, docs, readPages, type Block, type Page } from "./pages.ts";

const pages = readPages();

const folders = new Set(["", "tutorials", "how-to", "reference", "explanation", "internals"]);
/** Words of all pages together, as `wc -w` counts them. It only falls, except for new APIs. */
const wordsMax = 42_000;

const folderOf = ({ path }: Page): string => (path.includes("/") ? path.slice(0, path.indexOf("/")) : "");
const wordsIn = (some: Page[]): number => some.reduce((sum, { text }) => sum + text.split(/\s+/).filter(Boolean).length, 0);

describe("every page", () => {
  test("is in a folder of its kind", () => {
    const isLost = (page: Page): boolean => !folders.has(folderOf(page)) || (folderOf(page) === "" && page.path !== "README.md");
    expect(pages.filter(isLost).map(({ path }) => path)).toEqual([]);
  });

  test("is found from docs/README.md", () => {
    const index = pages.find(({ path }) => path === "README.md")?.text ?? "";
    const found = new Set([...index.matchAll(/\]\(([^)#]+)/g)].map(([, target]) => target));
    const lost = pages.filter((page) => page.path !== "README.md" && !found.has(page.path));
    expect(lost.map(({ path }) => path)).toEqual([]);
  });

  test("has links that lead somewhere", () => {
    const broken = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target = ""]) => target)
        .filter((target) => !/^[a-z]+:/.test(target) && !isThere(path, target))
        .map((target) => `docs/${path}: ${target}`),
    );
    expect(broken).toEqual([]);
  });
});

test(`all pages have at most ${wordsMax} words together`, () => {
  expect(wordsIn(pages)).toBeLessThanOrEqual(wordsMax);
});

describe("every block of code", () => {
  test("is checked as its language wants, or says why not", () => {
    const found = pages.flatMap((page) => page.blocks.flatMap((block, index) => problems(page, block, page.blocks[index - 1])));
    expect(found).toEqual([]);
  });

  test.skipIf(Bun.which("python3") === null)("of Python is parsed where python3 is on PATH", () => {
    const python = pages.flatMap(({ blocks }) => blocks.filter(({ language }) => language === "python"));
    const mistake = blocksOf("mistake.md", "```python\nif:\n```\n");
    expect(pythonProblems([...python, ...mistake])).toEqual([expect.stringContaining("docs/mistake.md:1")]);
  });
});

describe("the checks find", () => {
  const mistakes: [string, string, string][] = [
    ["a verb that does not exist", "sh", "npm run -s weir -- key make --workspace w"],
    ["a flag that does not exist", "sh", "weir key create --workspace w --lmit 5"],
    ["a flag that is missing", "sh", "weir credit add --workspace w"],
    ["a command inside a container", "sh", "docker compose -f a.yaml exec weir weir key lst"],
    ["a command inside a pod", "sh", "kubectl exec weir-gateway-0 -- weir key lst"],
    ["a script that does not exist", "sh", "npm run strat"],
    ["a program that nobody knows", "sh", "crul http://127.0.0.1:8080/ready"],
    ["a program that nobody knows in a container", "sh", "docker compose exec gateway-1 wier status"],
    ["a path that is not served", "sh", "curl http://127.0.0.1:8080/gpt/v1/modles"],
    ["a body that is no JSON", "sh", `curl http://127.0.0.1:8080/gpt/v1/models -d '{"a":}'`],
    ["a variable that Weir does not read", "sh", "PROT=9 npm start"],
    ["a quote that is open", "sh", "echo 'one"],
    ["a command inside another", "sh", 'echo "$(weir key lst)"'],
    ["JSON with a comma too much", "json", "[1,]"],
    ["a field that a provider does not have", "json schema=provider", '{"id":"x","kee":1}'],
    ["TypeScript that does not parse", "ts", "const a: = 1;"],
    ["YAML that does not parse", "yaml", "a: [1"],
    ["TOML that does not parse", "toml", 'a = "1'],
    ["a variable that Claude Code does not read", "sh", "ANTHROPIC_MODLE=sandbox/echo claude"],
    ["a command in YAML", "yaml", "script:\n  - weir key lst"],
    ["an unknown variable in a file of variables", "env", "PROT=9"],
    ["a language without a check", "rust", "fn main() {}"],
    ["a reason that says nothing", "nginx unchecked: no", "server {}"],
  ];

  test.each(mistakes)("%s", (_, fence, text) => {
    const page = { path: "x.md", text: "", blocks: blocksOf("x.md", `\`\`\`${fence}\n${text}\n\`\`\`\n`) };
    expect(page.blocks.flatMap((block) => problems(page, block, undefined))).not.toEqual([]);
  });
});

/** One line for each problem of a block. Output has no language and follows commands; those of tutorials are compared with the real one. */
function problems(page: Page, block: Block, previous: Block | undefined): string[] {
  const { language, at } = block;
  if (reasonOf(block) !== null) return [];
  if (language === "" && previous?.language === "sh") return [];
  const check = checks[language];
  if (check === undefined)
    return [`${at}: no check for "${language}": write \`\`\`${language || "text"} unchecked: and the reason`];
  return check(block, page).map((problem) => `${at}: ${problem}`);
}

function isThere(path: string, target: string): boolean {
  const [file = "", anchor] = target.split("#");
  const whole = file === "" ? join(docs, path) : join(docs, dirname(path), file);
  if (!existsSync(whole)) return false;
  if (anchor === undefined || !whole.endsWith(".md")) return true;
  const page = pages.find((one) => join(docs, one.path) === whole);
  return page === undefined || headingsOf(page).has(anchor);
}

/** Anchors as GitHub makes them. */
function headingsOf({ text }: Page): Set<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading.toLowerCase());
  return new Set(headings.map((heading) => heading.replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-")));
}
