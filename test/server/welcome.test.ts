import { expect, spyOn, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Secret } from "../../src/kernel/secret.ts";
import { weirCommand } from "../../src/server/weir-command.ts";
import { greetingText, welcome } from "../../src/server/welcome.ts";
import { isServed } from "../docs/known.ts";
import { shellCommands, type ShellCommand } from "../docs/shell-commands.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const settings = { host: "127.0.0.1", port: 8080, dataDir: "./.weir", operatorToken: null };
const address = { ...settings, publicUrl: "http://127.0.0.1:8080", sandbox: true, slug: "acme" };
const ready = { problems: [] };
const first = { key: `acme-api-${"0".repeat(64)}`, toolsKey: `acme-mcp-${"1".repeat(64)}` };

test("a start prints the addresses of the pages, and the link to sign in if there is one", () => {
  const text = greetingText(address, { ...ready, first: null });
  for (const path of ["/", "/connectors", "/reference"]) expect(text).toContain(`\n  http://127.0.0.1:8080${path} `);
  expect(text).not.toContain("Sign in");
  const signInUrl = "http://127.0.0.1:8080/console/link/once";
  expect(greetingText(address, { ...ready, first: null, signInUrl })).toContain(`works once:\n\n  ${signInUrl}\n`);
});

test("a start that is not ready names what is missing and does not say that it is ready", () => {
  const text = greetingText(address, { first: null, problems: ["catalog: ENOENT", "spool: full"] });
  expect(text).toContain("Weir has started at http://127.0.0.1:8080 and is not ready: catalog: ENOENT; spool: full\n");
  expect(text).not.toContain("Weir is ready");
});

test("the printed commands find the service and its token from another terminal, whatever the settings", () => {
  const moved = { ...address, port: 18110, dataDir: "/srv/it's weir" };
  const commands = greetingText(moved, { ...ready, first }) + greetingText(moved, { ...ready, first: null });
  const prefix = "PORT=18110 DATA_DIR='/srv/it'\\''s weir' npm run -s weir --";
  for (const command of ["log list", "key create"]) expect(commands).toContain(`\n  ${prefix} ${command}`);
  expect(weirCommand(settings)).toBe("npm run -s weir --");
  expect(weirCommand({ ...settings, host: "0.0.0.0" })).toBe("npm run -s weir --");
  expect(weirCommand({ ...settings, host: "::1", port: 80 })).toBe("WEIR_URL=http://[::1]:80 npm run -s weir --");
  expect(weirCommand({ ...settings, operatorToken: new Secret("hush") })).toBe('WEIR_TOKEN="$OPERATOR_TOKEN" npm run -s weir --');
});

test("a first start prints each key once, in a command that keeps it for the others, which fit into 80 columns", () => {
  const text = greetingText(address, { ...ready, first });
  const long = text.split("\n").filter((line) => line.length > 80);
  expect(long).toEqual([`  export WEIR_KEY=${first.key}`, `  export WEIR_TOOLS_KEY=${first.toolsKey}`]);
  const kept = printedCommands(text).flatMap(({ sets, words }) => (words.length === 0 ? sets : []));
  expect(kept).toEqual(["WEIR_KEY", "WEIR_TOOLS_KEY"]);
});

test("a first start with the sandbox prints how to start Claude Code and Codex on it, at addresses that are served", () => {
  const moved = { ...address, publicUrl: "https://weir.example.com" };
  const commands = printedCommands(greetingText(moved, { ...ready, first }));
  const claude = commands.find(({ words }) => words[0] === "claude");
  expect(claude?.sets).toEqual(["ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_MODEL"]);
  const text = greetingText(moved, { ...ready, first });
  expect(text).toContain("ANTHROPIC_BASE_URL=https://weir.example.com/gpt ");
  const codex = commands.find(({ words }) => words[0] === "codex")?.words ?? [];
  expect(codex.filter((_, index) => codex[index - 1] === "-c")).toEqual([
    "model_provider=weir",
    "model_providers.weir.name=Weir",
    "model_providers.weir.env_key=WEIR_KEY",
    "model_providers.weir.base_url=https://weir.example.com/gpt/v1",
  ]);
  // What the two append to their addresses.
  expect(["/gpt/v1/messages", "/gpt/v1/responses"].filter((path) => !isServed(path))).toEqual([]);
});

test("without the sandbox a start names no model, since none may be callable", () => {
  const text = greetingText({ ...address, sandbox: false }, { ...ready, first });
  expect(text).toContain('curl "http://127.0.0.1:8080/gpt/v1/models?all=true"');
  for (const word of ["sandbox/echo", "claude", "codex"]) expect(text).not.toContain(word);
});

/** Each printed line that is indented is a command, or a part of one. */
function printedCommands(text: string): ShellCommand[] {
  const indented = text.split("\n").filter((line) => line.startsWith("  ") && !line.startsWith("  http"));
  return shellCommands(indented.join("\n"));
}

test("with FIRST_KEYS=file neither keys nor links are printed: files that only the owner can read have them", async () => {
  await using folder = await temporaryFolder();
  const config = { ...address, dataDir: folder.path, firstKeys: "file" } as const;
  const signInUrl = "http://127.0.0.1:8080/console/link/once";
  const hushed = { key: "acme-api-hush", toolsKey: "acme-mcp-hush" };
  using printed = spyOn(console, "log").mockImplementation(() => {});
  welcome(config, { ...ready, first: hushed, signInUrl });
  welcome(config, { ...ready, first: null, signInUrl });
  const output = printed.mock.calls.join("\n");
  expect(output).toContain("Weir is ready at http://127.0.0.1:8080");
  for (const name of ["first-keys", "sign-in-link"]) {
    expect(output).toContain(`"${join(folder.path, name)}"`);
    expect(statSync(join(folder.path, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder.path, name), "utf8")).toContain(signInUrl);
  }
  expect(readFileSync(join(folder.path, "first-keys"), "utf8")).toMatch(/acme-api-hush[^]*acme-mcp-hush/);
  expect(output).not.toMatch(/hush|link\/once/);
});
