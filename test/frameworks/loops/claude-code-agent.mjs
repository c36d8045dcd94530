/** Claude Code: the task, the conversation again, its context counted and made shorter, and what it does when a request fails. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  apiKey,
  baseURL,
  brokenGreeting,
  done,
  greeted,
  greeting,
  limitedKey,
  model,
  poorKey,
  runAlone,
  Workplace,
} from "./scene-agents.mjs";

const program = fileURLToPath(new URL("node_modules/@anthropic-ai/claude-code-linux-x64/claude", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "weir-claude-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
const place = new Workplace();

async function claude(prompt, { words = [], key = apiKey, environment = {} } = {}) {
  const { code, output, errors } = await runAlone(
    program,
    ["-p", prompt, "--output-format", "json", "--allowedTools", "Bash,Edit,Write", ...words],
    {
      cwd: place.folder,
      environment: {
        HOME: home,
        ANTHROPIC_BASE_URL: baseURL.replace(/\/v1$/, ""),
        ANTHROPIC_AUTH_TOKEN: key,
        ANTHROPIC_MODEL: model,
        ANTHROPIC_DEFAULT_OPUS_MODEL: model,
        ANTHROPIC_DEFAULT_SONNET_MODEL: model,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_TELEMETRY: "1",
        DISABLE_ERROR_REPORTING: "1",
        DISABLE_AUTOUPDATER: "1",
        ...environment,
      },
    },
  );
  assert.ok(output.startsWith("{"), `${prompt}: exit code ${code}\n${output}\n${errors}`);
  return { code, ...JSON.parse(output) };
}

async function says(text, prompt, options) {
  const { result, is_error } = await claude(prompt, options);
  assert.equal(is_error, false, result);
  assert.equal(result, text);
}

await says(done, place.task);
place.check();
const goesOn = { words: ["--continue"] };
await says(done, place.again, goesOn);

const context = await claude("/context", goesOn);
assert.match(context.result, /tokens/i);
const compacted = await claude("/compact", goesOn);
assert.equal(compacted.is_error, false, JSON.stringify(compacted));
await says(done, place.again, goesOn);

// It repeats a broken stream as a request that is not streamed.
await says(greeted, brokenGreeting());

const refused = await claude(greeting, { key: poorKey });
assert.equal(refused.is_error, true);
assert.match(refused.result, /credit/);
const once = { key: limitedKey, environment: { CLAUDE_CODE_MAX_RETRIES: "0" } };
await says(greeted, greeting, once);
const limited = await claude(greeting, once);
assert.equal(limited.is_error, true);
assert.match(limited.result, /429|rate/i);
