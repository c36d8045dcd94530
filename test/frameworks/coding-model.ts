/**
 * A model behind any wire format that codes. Asked for a function it thinks, writes the function and its test, runs the test, which fails,
 * mends the function and runs the test again. It calls the tools that the agent offers, by their names, and refuses a conversation in which
 * a result is not what the tool must have said, or the thought before the calls of a turn did not come back. It keeps what it billed: no two
 * answers have the same count, so that each is found again in a log.
 */
import type { ServerResponse } from "node:http";
import type { StubCall } from "../support/providers/provider-stub.ts";
import { json, type StubAnswer } from "../support/providers/stub-answers.ts";
import { responsesRefusal } from "../support/providers/strict-responses.ts";
import { lostSignature, voices, wrongResults, type Call, type Item, type Said, type Voice } from "./voices.ts";

export interface Bill {
  input: number;
  output: number;
  /** The stream broke, so the client's side had to guess. */
  broke: boolean;
}

export interface CodingModel {
  answer: StubAnswer;
  /** The oldest first. Of launch checks, whose prompt has no tools, too. */
  bills: Bill[];
}

/** A call, and what its result must contain. */
interface Step {
  name: string;
  input: Record<string, unknown>;
  expected: string;
}

const thoughts = ["A function ", "needs a test."];
const done = "The test passes.";
const greeting = ["Hello ", "from ", "the ", "model."];
/** What it is asked for: the task, a greeting, or a shorter conversation. */
const known = /in the folder \/|^Say hello|detailed summary of/;
/** A count of a prompt in the words of the formats that have one. It costs nothing. */
const counted = { input_tokens: 5_000, totalTokens: 5_000 };
/** What an agent keeps of a conversation that it makes shorter. */
const summary = "<summary>The function and its test are written, and the test passes.</summary>";

const sources = {
  "sum.sh": "add() {\n  echo $(($1 - $2))\n}\n",
  "test.sh": '. ./sum.sh\nsum=$(add 2 3)\n[ "$sum" = 5 ] || { echo "add 2 3 gave $sum"; exit 1; }\necho passed\n',
};
const wrong = "$1 - $2";
const right = "$1 + $2";

export function codingModel(format: string): CodingModel {
  const voice = voices[format];
  if (voice === undefined) throw new Error(`No model speaks ${format}`);
  const bills: Bill[] = [];
  const broken = new Set<string>();
  const answer: StubAnswer = (response, call) => {
    if (/count_?tokens|input_tokens/i.test(call.path)) return json(counted)(response, call);
    const refused = format === "openai-responses" ? (responsesRefusal(call)?.message ?? null) : null;
    const asked = conversationOf(voice, call);
    const complaint = refused ?? complaintAbout(asked);
    if (complaint !== null) {
      // The gateway does not repeat a provider's words.
      console.log(`The model behind ${format} refuses: ${complaint.slice(0, 2_000)}`);
      const error = { code: 400, status: "INVALID_ARGUMENT", type: "invalid_request_error", message: complaint };
      return json({ error }, 400)(response, call);
    }
    const usage = { input: 1_000 + bills.length, output: 20 };
    const { whole, events } = voice.say({ ...next(asked), usage }, call.body);
    const streamed = call.streamed || call.path.includes(":streamGenerateContent");
    const breaks = streamed && asked.breakName !== null && !broken.has(asked.breakName);
    if (breaks) broken.add(asked.breakName ?? "");
    bills.push({ ...usage, broke: breaks });
    if (!streamed) return json(whole)(response, call);
    return write(response, call, { events, breaks });
  };
  return { answer, bills };
}

interface Asked {
  voice: Voice;
  tools: readonly string[];
  items: readonly Item[];
  /** What came after the last question. */
  turn: readonly Item[];
  question: string;
  /** The calls of this turn, as far as the tools allow them: those of one step at once. */
  steps: readonly (readonly Step[])[];
  /** A question with a name breaks its first stream. */
  breakName: string | null;
}

function conversationOf(voice: Voice, { body }: StubCall): Asked {
  const tools = voice.tools(body);
  // Agents say by the user, too, where they run, what they remind of and what a longer conversation was about.
  const items = voice.read(body).filter((item) => item.kind !== "question" || known.test(item.text));
  const last = items.findLastIndex(({ kind }) => kind === "question");
  const item = items[last];
  const question = item?.kind === "question" ? item.text : "";
  const folder = /in the folder (\/\S+?)[.,]?(\s|$)/.exec(question)?.[1] ?? "";
  return {
    voice,
    tools,
    items,
    turn: items.slice(last + 1),
    question,
    steps: folder === "" || tools.length === 0 ? [] : stepsOf(question, tools, folder),
    breakName: /break once: (\S+?)\.?$/.exec(question)?.[1] ?? null,
  };
}

function stepsOf(question: string, tools: readonly string[], folder: string): readonly (readonly Step[])[] {
  const { files, run, mend } = tools.includes("exec_command") ? byPatches(folder) : byEdits(folder);
  const shown = run(`cat ${folder}/sum.sh`, right);
  const passes = run("sh test.sh", "passed");
  if (question.includes("once more")) return [[passes, shown]];
  return [files, [run("sh test.sh", "add 2 3 gave -1")], [mend], [passes, shown]];
}

interface Hands {
  files: Step[];
  run(command: string, expected: string): Step;
  mend: Step;
}

/** The tools of Claude Code, by which the other clients name theirs. */
function byEdits(folder: string): Hands {
  const file_path = `${folder}/sum.sh`;
  return {
    files: Object.entries(sources).map(([name, content]) => ({
      name: "Write",
      input: { file_path: `${folder}/${name}`, content },
      expected: name,
    })),
    run: (command, expected) => ({ name: "Bash", input: { command: `cd ${folder} && ${command}` }, expected }),
    mend: { name: "Edit", input: { file_path, old_string: wrong, new_string: right }, expected: "sum.sh" },
  };
}

/** The tools of Codex. */
function byPatches(folder: string): Hands {
  const patched = (lines: string[]): Step => ({
    name: "apply_patch",
    input: { input: ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n") },
    expected: "sum.sh",
  });
  const added = Object.entries(sources).flatMap(([name, content]) => [
    `*** Add File: ${name}`,
    ...content
      .trimEnd()
      .split("\n")
      .map((line) => `+${line}`),
  ]);
  return {
    files: [patched(added)],
    run: (cmd, expected) => ({ name: "exec_command", input: { cmd, workdir: folder }, expected }),
    mend: patched(["*** Update File: sum.sh", "@@", " add() {", `-  echo $((${wrong}))`, `+  echo $((${right}))`, " }"]),
  };
}

/** A conversation that is made shorter may come without tools: it ends with a question that is not known here, so its turn is over. */
function complaintAbout({ voice, tools, items, turn, steps }: Asked): string | null {
  const isOver = tools.length === 0;
  return wrongResults(items) ?? (isOver ? null : (lostSignature(turn, voice) ?? wrongWords(turn, steps.flat())));
}

/** @returns the complaint about a result of this turn that its tool cannot have said */
function wrongWords(turn: readonly Item[], steps: readonly Step[]): string | null {
  const said = new Map(turn.flatMap((item) => (item.kind === "result" ? [[item.id, item.text] as const] : [])));
  const calls = turn.filter((item) => item.kind === "call");
  for (const [index, { id, name }] of calls.entries()) {
    const { name: called, expected } = steps[index] ?? { name: "no call", expected: "" };
    if (name !== called) return `call ${index} was ${called}, and came back as ${name}`;
    if (!String(said.get(id)).includes(expected)) return `${name} says not "${expected}" but: ${String(said.get(id))}`;
  }
  return null;
}

/** Without tools, as in the launch check, there is nothing to do. */
function next({ voice, tools, turn, question, steps }: Asked): Omit<Said, "usage"> {
  const says = (pieces: readonly string[]) => ({ thoughts: [], calls: [], pieces });
  if (tools.length === 0 || question.includes("detailed summary of")) return says([summary]);
  let before = turn.filter(({ kind }) => kind === "call").length;
  const isKept = voice.signs || turn.some((item) => item.kind === "thought" && item.text === thoughts.join(""));
  for (const [index, step] of steps.entries()) {
    if (before === 0) return { thoughts: index === 0 ? thoughts : [], calls: step.map(made), pieces: [] };
    before -= step.length;
  }
  if (steps.length === 0) return says(greeting);
  return says(isKept ? [done] : [done, " But the thought is lost."]);
}

function made({ name, input }: Step): Call {
  return { id: `call_${crypto.randomUUID()}`, name, input };
}

/** @param breaks the connection ends before the last piece of the text */
async function write(
  response: ServerResponse,
  call: StubCall,
  { events, breaks }: { events: readonly string[]; breaks: boolean },
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const one of events) {
    if (breaks && one.includes(greeting.at(-1) ?? "")) {
      call.state = "broken";
      // A broken connection discards what its reader has not read, so written bytes get time to arrive.
      await new Promise((resolve) => setTimeout(resolve, 100));
      response.socket?.destroy();
      return;
    }
    response.write(one);
  }
  response.end();
}
