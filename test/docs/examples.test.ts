/** The programs and settings that how-to pages and the Console's Workbench print, tried with a service in the test's process. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { programTemplates } from "../../src/console/pages/inference/workbench/workbench-page.ts";
import { greetingText } from "../../src/server/welcome.ts";
import { repository } from "../support/processes/process.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { temporaryFolder, type TemporaryFolder } from "../support/temporary-folder.ts";
import { isServed } from "./known.ts";
import { readPage, readPages, type Block } from "./pages.ts";
import { shellCommands } from "./shell-commands.ts";

const documented = "http://127.0.0.1:8080";

let fleet: Fleet;
let folder: TemporaryFolder;
let key: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  fleet = await Fleet.start({ services: null, inTest: true });
  key = (await fleet.operator().customer({ credit: "10" })).keys[0]?.key ?? "";
  process.env["WEIR_KEY"] = key;
}, 60_000);
afterAll(async () => {
  delete process.env["WEIR_KEY"];
  await fleet[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** Runs a program with the packages of this repository. @returns what it prints */
async function printedBy(program: string): Promise<string> {
  const here = program.replaceAll(documented, fleet.url());
  const resolved = here.replaceAll(/from "([^"]+)"/g, (_, name: string) => `from "${Bun.resolveSync(name, repository)}"`);
  const path = join(folder.path, `${crypto.randomUUID()}.ts`);
  await writeFile(path, resolved);
  using printed = spyOn(console, "log").mockImplementation(() => {});
  await import(path);
  return printed.mock.calls
    .map((words) => words.map((word) => (typeof word === "string" ? word : JSON.stringify(word))).join(" "))
    .join("\n");
}

describe("the programs of how-to pages", () => {
  const programs = readPages()
    .filter(({ path }) => path.startsWith("how-to/"))
    .flatMap(({ blocks }) => blocks.filter(({ language, text }) => language === "ts" && text.includes("WEIR_KEY")));
  const installed = programs.filter(({ text }) => packagesOf(text).every(isInstalled));

  test("that need only packages of this repository are those of OpenAI and Anthropic", () => {
    const names = new Set(installed.flatMap(({ text }) => packagesOf(text)));
    expect([...names].toSorted()).toEqual(["@anthropic-ai/sdk", "openai"]);
  });

  test.each(installed)("$at answers", async ({ text }) => {
    expect(await printedBy(text)).toContain("Hello");
  });
});

function packagesOf(program: string): string[] {
  return [...program.matchAll(/from "([^"]+)"/g)].map(([, name = ""]) => name);
}

function isInstalled(name: string): boolean {
  try {
    return Bun.resolveSync(name, repository) !== "";
  } catch {
    return false;
  }
}

describe("the settings of coding agents", () => {
  const { blocks, text } = readPage("how-to/use-coding-agents.md");
  const parsed = (language: string, field: string): unknown[] =>
    blocks.filter((block) => block.language === language && block.text.includes(field)).map(read);

  test("have addresses to which each agent appends a path that is served", () => {
    const [claude] = parsed("json", "ANTHROPIC_BASE_URL") as [{ env: Record<string, string> }];
    const [codex] = parsed("toml", "base_url") as [{ model_providers: { weir: Record<string, string> } }];
    const [zed] = parsed("json", "api_url") as [ZedSettings];
    const urls = [
      `${claude.env["ANTHROPIC_BASE_URL"]}/v1/messages`,
      `${codex.model_providers.weir["base_url"]}/responses`,
      `${zed.language_models.openai_compatible.weir.api_url}/chat/completions`,
    ];
    expect(urls.filter((url) => !url.startsWith(documented) || !isServed(url.slice(documented.length)))).toEqual([]);
    expect(codex.model_providers.weir).toMatchObject({ env_key: "WEIR_KEY", wire_api: "responses" });
  });

  test("name models of the catalog, with their context", () => {
    const models = catalogModels();
    const named = [...text.matchAll(/\b(?:openai|anthropic|sandbox)\/[a-z0-9][a-z0-9.-]*/g)].map(([id]) => id);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((id) => !models.has(id))).toEqual([]);
    const [zed] = parsed("json", "api_url") as [ZedSettings];
    const [model] = zed.language_models.openai_compatible.weir.available_models;
    expect(model?.max_tokens).toBe(models.get(model?.name ?? "") ?? 0);
  });

  test("start Claude Code and Codex as the first start of the service prints it", () => {
    const first = { key: "platform-api-", toolsKey: "platform-mcp-" };
    const settings = { host: "127.0.0.1", port: 8080, dataDir: "./.weir", operatorToken: null, slug: "platform" };
    const printed = greetingText({ ...settings, publicUrl: documented, sandbox: true }, { first, problems: [] });
    const indented = printed.split("\n").filter((line) => line.startsWith("  ") && !line.startsWith("  http"));
    const shown = blocks.filter(({ language }) => language === "sh").map((block) => block.text);
    const starts = (commands: string) =>
      shellCommands(commands).filter(({ words: [program] }) => program === "claude" || program === "codex");
    expect(starts(shown.join("\n"))).toEqual(starts(indented.join("\n")));
  });
});

interface ZedSettings {
  language_models: { openai_compatible: { weir: { api_url: string; available_models: { name: string; max_tokens: number }[] } } };
}

function read({ language, text }: Block): unknown {
  return language === "toml" ? Bun.TOML.parse(text) : JSON.parse(text);
}

/** The context of each model, by its id. */
function catalogModels(): Map<string, number> {
  const models = join(repository, "catalog-data/models");
  const files = readdirSync(models).map((name) => readFileSync(join(models, name), "utf8"));
  const records = files.flatMap((file) => JSON.parse(file) as { id: string; context_length: number }[]);
  return new Map([...records.map(({ id, context_length }) => [id, context_length] as const), ["sandbox/echo", 0]]);
}

describe("the Workbench's conversation as code", () => {
  const said = 'It\'s "here"';
  const conversation = {
    model: "sandbox/echo",
    messages: [
      { role: "system", content: "Repeat it." },
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Hello" },
      { role: "user", content: said },
    ],
    temperature: 1.5,
    max_tokens: 64,
  };
  /** All that the form can set and the sandbox takes. */
  const everything = {
    ...conversation,
    messages: [
      ...conversation.messages.slice(0, 2),
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call-1", type: "function", function: { name: "weather", arguments: '{"city":"Bern"}' } }],
      },
      { role: "tool", tool_call_id: "call-1", content: "Sun" },
      { role: "user", content: said },
    ],
    top_p: 0.9,
    seed: 7,
    frequency_penalty: 0.5,
    presence_penalty: 0.5,
    stop: ["END"],
    reasoning_effort: "minimal",
    verbosity: "low",
    tools: [
      {
        type: "function",
        function: { name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
      },
    ],
    tool_choice: "auto",
    parallel_tool_calls: false,
    response_format: {
      type: "json_schema",
      json_schema: { name: "answer", strict: true, schema: { type: "object", properties: { text: { type: "string" } } } },
    },
    usage: { include: true },
  };
  const script = readFileSync(join(repository, "src/console/pages/inference/workbench/code.js"), "utf8");
  const { programOf } = runInNewContext(`${script};workbench`, { workbench: {} }) as {
    programOf(template: object, chat: object, options: { streams: boolean }): string;
  };
  const { temperature: _, max_tokens: __, ...short } = { ...conversation, messages: conversation.messages.slice(1) };
  const programs = programTemplates(documented).map((template) => {
    const of = (chat: object): string => programOf(template, chat, template);
    return {
      ...template,
      how: template.streams ? "streamed" : "whole",
      code: of(conversation),
      shortCode: of(short),
      fullCode: of(everything),
    };
  });
  const inLanguage = (language: string) => programs.filter((program) => program.language === language);

  const post = async (url: string, body: string): Promise<[number, string]> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(url.replace(documented, fleet.url()), { method: "POST", headers, body });
    return [response.status, await response.text()];
  };
  /** What a stream of any of the APIs says, or a whole answer. */
  const saidIn = (text: string): string =>
    text.includes("data: ")
      ? [...text.matchAll(/"(?:content|text|delta)":("(?:[^"\\]|\\.)*")/g)].map(([, piece = ""]) => JSON.parse(piece)).join("")
      : text;

  test("is written for three APIs in three languages, whole and streamed", () => {
    expect(programs.map(({ api, language, how }) => `${api} ${language} ${how}`).length).toBe(18);
    expect(programs.filter(({ code }) => /\{\w+\}/.test(code)).map(({ code }) => code)).toEqual([]);
  });

  test.each(inLanguage("curl"))("$api in curl, $how, is one command that answers", async ({ code, shortCode, streams }) => {
    for (const command of [code, shortCode]) {
      const [{ words } = { words: [""] }, ...others] = shellCommands(command);
      const [program, url = ""] = words;
      expect([program, others, words.includes("Authorization: Bearer $WEIR_KEY"), words.includes("-N")]).toEqual([
        "curl",
        [],
        true,
        streams,
      ]);
      const [status, text] = await post(url, words.at(-1) ?? "");
      expect([status, saidIn(text)]).toEqual([200, expect.stringContaining(streams ? said : JSON.stringify(said))]);
    }
  });

  test.each(inLanguage("curl"))("$api in curl, $how, answers with all that the form can set", async ({ fullCode }) => {
    const [{ words } = { words: [""] }] = shellCommands(fullCode);
    const [status, text] = await post(words[1] ?? "", words.at(-1) ?? "");
    expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
  });

  const whole = (language: string) => inLanguage(language).filter(({ streams }) => !streams);
  test.each(whole("JavaScript"))("$api in JavaScript answers by the official package", async ({ code, shortCode }) => {
    expect([await printedBy(code), await printedBy(shortCode)]).toEqual([said, said]);
  });

  test.each(inLanguage("JavaScript").filter(({ streams }) => streams))(
    "$api in JavaScript streams by the official package",
    async ({ code }) => {
      using written = spyOn(process.stdout, "write").mockImplementation(() => true);
      await printedBy(code);
      expect(written.mock.calls.map(([piece]) => String(piece)).join("")).toBe(said);
    },
  );

  /** Stands for both packages: prints the call that they would make. */
  const packages = `
import json, sys, types
class Client:
    def __init__(self, path=(), **options):
        self.path, self.options = path, options
    def __getattr__(self, name):
        return Client(self.path + (name,), **self.options)
    def __call__(self, extra_body={}, **body):
        print(json.dumps({"method": self.path, "options": self.options, "body": {**body, **extra_body}}))
        sys.exit()
for name, client in (("openai", "OpenAI"), ("anthropic", "Anthropic")):
    sys.modules[name] = types.ModuleType(name)
    setattr(sys.modules[name], client, Client)
`;
  const paths: Record<string, string> = { chat: "/chat/completions", messages: "/v1/messages", responses: "/responses" };

  test.skipIf(Bun.which("python3") === null).each(inLanguage("Python"))(
    "$api in Python, $how, asks for the same",
    async ({ api, fullCode }) => {
      const { stdout, stderr } = spawnSync("python3", ["-c", packages + fullCode], {
        encoding: "utf8",
        env: { ...process.env, WEIR_KEY: key },
      });
      if (stdout === "") throw new Error(stderr);
      const { method, options, body } = JSON.parse(stdout) as { method: string[]; options: Record<string, string>; body: object };
      expect([method.at(-1), options["api_key"]]).toEqual(["create", key]);
      const [status, text] = await post(`${options["base_url"]}${paths[api]}`, JSON.stringify(body));
      expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
    },
  );
});
