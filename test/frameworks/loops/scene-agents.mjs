/** The task of the agents on Node, and its tools for those that bring none; see scene_agents.py. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const {
  WEIR_URL: baseURL,
  WEIR_KEY: apiKey,
  WEIR_POOR_KEY: poorKey,
  WEIR_LIMITED_KEY: limitedKey,
  WEIR_MODEL: model,
} = process.env;
export const greeting = "Say hello.";
export const greeted = "Hello from the model.";
export const done = "The test passes.";
export const thought = "A function needs a test.";

/** A greeting whose first stream the provider breaks off. */
export function brokenGreeting() {
  return `Say hello, and break once: ${crypto.randomUUID()}`;
}

/** The folder of an agent's task. It is removed when the loop ends. */
export class Workplace {
  folder = mkdtempSync(join(tmpdir(), "weir-agent-"));
  task = `Write a shell function that adds two numbers, run its test and mend it, in the folder ${this.folder}.`;
  again = `Run the test once more, in the folder ${this.folder}.`;

  constructor() {
    process.on("exit", () => rmSync(this.folder, { recursive: true, force: true }));
  }

  check() {
    assert.match(readFileSync(join(this.folder, "sum.sh"), "utf8"), /\$1 \+ \$2/);
    assert.equal(shell(`cd ${this.folder} && sh test.sh`).output, "passed\n");
  }
}

/** What a model may call: the name, the fields of its input, which are all texts, and what it does. */
export const tools = [
  {
    name: "Write",
    description: "Writes a file",
    fields: ["file_path", "content"],
    run: ({ file_path, content }) => (writeFileSync(file_path, content), `Wrote ${file_path}`),
  },
  {
    name: "Edit",
    description: "Replaces a text in a file",
    fields: ["file_path", "old_string", "new_string"],
    run({ file_path, old_string, new_string }) {
      writeFileSync(
        file_path,
        readFileSync(file_path, "utf8").replace(old_string, () => new_string),
      );
      return `Edited ${file_path}`;
    },
  },
  {
    name: "Bash",
    description: "Runs a command",
    fields: ["command"],
    run({ command }) {
      const { output, code } = shell(command);
      return code === 0 ? output : `Exit code ${code}\n${output}`;
    },
  },
];

export function schemaOf({ fields }) {
  const properties = Object.fromEntries(fields.map((field) => [field, { type: "string" }]));
  return { type: "object", properties, required: fields, additionalProperties: false };
}

/** @param input the text of a call's arguments, or what it says */
export function runTool(name, input) {
  const tool = tools.find((one) => one.name === name);
  assert.ok(tool, `there is no tool ${name}`);
  return tool.run(typeof input === "string" ? JSON.parse(input) : input);
}

function shell(command) {
  const { stdout, stderr, status } = spawnSync("/bin/sh", ["-c", command], { encoding: "utf8", env: { PATH: "/usr/bin:/bin" } });
  return { output: `${stdout}${stderr}`, code: status };
}

/** Checks that a call fails with a status. */
export async function fails(status, call) {
  const error = await call().then(
    () => null,
    (thrown) => thrown,
  );
  assert.ok(error, `the call is to fail with ${status}`);
  assert.equal(error.status ?? error.statusCode, status, String(error));
}

/**
 * Runs an agent's program with an empty environment and a home of its own, so that it knows nothing of this machine's. What it sends
 * elsewhere than to this machine fails.
 */
export function runAlone(program, words, { cwd, environment, timeoutMs = 240_000 }) {
  const nowhere = "http://127.0.0.1:9";
  const env = {
    PATH: "/usr/bin:/bin",
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    NO_PROXY: "127.0.0.1",
    no_proxy: "127.0.0.1",
    ...environment,
  };
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: timeoutMs });
    let [output, errors] = ["", ""];
    child.stdout.on("data", (bytes) => (output += bytes));
    child.stderr.on("data", (bytes) => (errors += bytes));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output, errors }));
  });
}
