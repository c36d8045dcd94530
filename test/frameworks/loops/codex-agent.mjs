/** Codex: the task, the conversation again, its context made shorter, and what it does when a request fails. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

const program = fileURLToPath(new URL("node_modules/@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "weir-codex-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
const place = new Workplace();

writeFileSync(
  join(home, "config.toml"),
  `model = "${model}"
model_provider = "weir"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.weir]
name = "Weir"
base_url = "${baseURL}"
env_key = "WEIR_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 1
`,
);

/** @returns the last message of the model, and the errors that it reported */
async function codex(words, { key = apiKey } = {}) {
  // The scripted model runs in a folder of its own, so the commands need no sandbox, which not every machine has.
  const options = ["--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox"];
  const { code, output, errors } = await runAlone(program, ["exec", ...options, ...words], {
    cwd: place.folder,
    environment: { HOME: home, CODEX_HOME: home, WEIR_KEY: key },
  });
  const events = output
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  const said = events.flatMap(({ item }) => (item?.type === "agent_message" ? [item.text] : [])).at(-1);
  const failed = events.filter(({ type }) => type === "error" || type === "turn.failed").map((event) => JSON.stringify(event));
  return { code, said, failed: failed.join("\n"), all: `${output}\n${errors}` };
}

async function says(text, words, options) {
  const { code, said, all } = await codex(words, options);
  assert.equal(code, 0, all);
  assert.equal(said, text, all);
}

await says(done, [place.task]);
place.check();
await says(done, ["resume", "--last", place.again]);

// Its context is full, so it asks for a summary first.
await says(greeted, ["-c", "model_auto_compact_token_limit=500", "resume", "--last", greeting]);

// It repeats a broken stream.
await says(greeted, [brokenGreeting()]);

// It gives up where it may not try again; otherwise it would wait until the key may send another request.
const once = (key) => codex(["-c", "model_providers.weir.stream_max_retries=0", greeting], { key });
const refused = await once(poorKey);
assert.notEqual(refused.code, 0, refused.all);
assert.match(refused.failed, /credit/);
await says(greeted, [greeting], { key: limitedKey });
const limited = await once(limitedKey);
assert.notEqual(limited.code, 0, limited.all);
assert.match(limited.failed, /429|Too many requests/);
