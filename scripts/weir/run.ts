/**
 * Runs one command and returns its exit code: 0 done, 1 refused or not reachable, 2 wrong usage, 3 findings that --fail-on names, 4 nothing
 * could be compared.
 *
 * The answer goes to stdout, as a text for people or, with --json, as one JSON document; progress and failures go to stderr. Marks that are
 * invisible or change the direction of writing are shown as escapes.
 */
import { showInvisible } from "../../src/kernel/text.ts";
import { ConfigError } from "../../src/process/environment/variables.ts";
import { version } from "../../src/process/version.ts";
import { call, CallError, type Call, type Service } from "./call.ts";
import { help, readCommand } from "./read-command.ts";
import { print, failurePrefix, fitTable, wrapText, type Screen } from "./print.ts";
import { UsageError } from "./value.ts";
import type { Files, LocalAnswer, RemoteVerb, Sending } from "./verb.ts";

interface Terminal {
  out(text: string): void;
  error(text: string): void;
  /** The screen of `out`; null: it is a pipe or a file. */
  screen?: Screen | null;
  /** Whether `error` shows colours. */
  coloursErrors?: boolean;
}

/** Read only when needed. Both may throw an error about the environment. */
interface CommandContext {
  /** @param takesToolsKey whether a tools key is enough for the command */
  service(takesToolsKey: boolean): Service;
  files(): Files;
  /** Whether a command for which a tools key is enough gets one; absent: it does not. */
  hasToolsKey?(): boolean;
}

export async function run(words: string[], context: CommandContext, given: Terminal): Promise<number> {
  const terminal = showingInvisible(given);
  try {
    const command = readCommand(words, context.hasToolsKey);
    if (command.kind === "help") {
      terminal.out(onScreen(wrapText, help(command.verbs), terminal));
      return 0;
    }
    if (command.kind === "version") {
      terminal.out(version);
      return 0;
    }
    const { fields, json } = command;
    if (command.kind === "local") return show(await command.verb.local(fields, context.files()), { json, terminal });
    const { send, takesToolsKey = false } = command.verb;
    const service = context.service(takesToolsKey && command.as === null);
    if (send !== undefined) {
      const sending = sendingTo(service, { ...command, terminal });
      return show(await send(fields, sending), { json, terminal });
    }
    const response = await call(command, service);
    const { progress, show: format = (answer) => print(command.verb, answer) } = command.verb;
    const body = progress ? await readProgress(response, (part) => terminal.error(progress(part))) : await wholeBody(response);
    const fit = Array.isArray(body["data"]) ? fitTable : wrapText;
    terminal.out(json ? JSON.stringify(body, null, 2) : onScreen(fit, await format(body), terminal));
    return exitCode(body);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    terminal.error(`${failurePrefix(terminal.coloursErrors ?? false)} ${error.message}`);
    if (error instanceof UsageError) return 2;
    if (error instanceof CallError || error instanceof ConfigError) return 1;
    throw error;
  }
}

/** Names in other people's documents and advisories could change the direction of a line. */
function showingInvisible({ out, error, ...screen }: Terminal): Terminal {
  return { ...screen, out: (text) => out(showInvisible(text)), error: (text) => error(showInvisible(text)) };
}

function onScreen(fit: (text: string, screen: Screen) => string, text: string, { screen }: Terminal): string {
  return screen === undefined || screen === null ? text : fit(text, screen);
}

interface SendOptions {
  verb: RemoteVerb;
  as: string | null;
  terminal: Terminal;
}

function sendingTo(service: Service, { verb: { path: own, uploads = own, notes = own }, as, terminal }: SendOptions): Sending {
  const answerOf = async (sent: Omit<Call, "as">) => wholeBody(await call({ ...sent, as }, service));
  return {
    get: (path, query) => answerOf({ verb: { method: "GET", path }, fields: query }),
    post: (sent) => answerOf({ verb: { method: "POST", path: own }, fields: sent }),
    note: (sent) => answerOf({ verb: { method: "POST", path: notes }, fields: sent }),
    postTo: (path, sent) => answerOf({ verb: { method: "POST", path }, fields: sent }),
    upload: ({ query, body }) => answerOf({ verb: { method: "POST", path: uploads }, fields: query, body }),
    showProgress: (line) => terminal.error(line),
  };
}

function show(answer: LocalAnswer, { json, terminal }: { json: boolean; terminal: Terminal }): number {
  const { body, text, errors } = answer;
  for (const line of errors) terminal.error(line);
  terminal.out(json ? JSON.stringify(body, null, 2) : text);
  return answer.exitCode ?? exitCode(body);
}

function exitCode(body: Record<string, unknown>): number {
  return body["ok"] === false ? 1 : 0;
}

async function wholeBody(response: Response): Promise<Record<string, unknown>> {
  try {
    return Object(await response.json());
  } catch (error) {
    throw new CallError("The service's answer is incomplete", { cause: error });
  }
}

/**
 * Reads the answer of a long operation: parts, which are shown as progress, and the result at the end. @throws CallError when the service
 * fails, or its answer ends before the result
 */
async function readProgress(response: Response, show: (part: Record<string, unknown>) => void): Promise<Record<string, unknown>> {
  for await (const line of linesOf(response)) {
    const { checked, result, error } = JSON.parse(line);
    if (checked) show(checked);
    if (error) throw new CallError(String(error.message));
    if (result) return result;
  }
  throw new CallError("The service's answer ended before the result");
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
