/**
 * A model behind any wire format that thinks before it calls its tool for two cities at once. It refuses a conversation in which a
 * call or a result did not come back as it was, and its calls without the signature of the thought before them. Asked a second time
 * it thinks and calls again; then its stream is quiet for a while in the midst of the answer.
 */
import { wireFormats } from "../../src/gateway/providers/registry.ts";
import type { StubCall } from "../support/providers/provider-stub.ts";
import { json, type StubAnswer } from "../support/providers/stub-answers.ts";
import { lostSignature, voices, wrongResults, type Item, type Said, type Voice } from "./voices.ts";

const tool = "get_weather";
const weather: Record<string, string> = { Oslo: "7", Rome: "19" };
const thoughts = ["Both cities ", "need a forecast."];
const usage = { input: 10, output: 20 };
/** Longer than the time after which the gateway sends a comment. */
const quietMs = 20_000;

/** The provider's answers, by the name of the format: those of the registry. */
export const thinking: Record<string, StubAnswer> = Object.fromEntries(
  Object.keys(wireFormats).flatMap((format) => {
    const voice = voices[format];
    return voice === undefined ? [] : [[format, (response, call) => play(format, voice, call)(response, call)]];
  }),
);

function play(format: string, voice: Voice, call: StubCall): StubAnswer {
  const items = voice.read(call.body);
  const complaint = complaintAbout(items, voice);
  if (complaint !== null) {
    // The gateway does not repeat a provider's words.
    console.log(`The model behind ${format} refuses: ${complaint}`);
    return json({ error: { code: 400, status: "INVALID_ARGUMENT", type: "invalid_request_error", message: complaint } }, 400);
  }
  const { whole, events } = voice.say(next(items, voice, "tools" in call.body), call.body);
  if (!call.streamed && !call.path.includes(":streamGenerateContent")) return json(whole);
  return written(events, items.filter(({ kind }) => kind === "question").length > 1);
}

/** Without its tool, as in the launch check, the model has nothing to think about. */
function next(items: Item[], { signs }: Voice, hasTool: boolean): Said {
  if (!hasTool) return { thoughts: [], calls: [], pieces: ["Yes"], usage };
  if (items.at(-1)?.kind === "question") {
    const calls = Object.keys(weather).map((city) => ({ id: `call_${crypto.randomUUID()}`, name: tool, input: { city } }));
    return { thoughts, calls, pieces: [], usage };
  }
  const isKept = signs || lastTurn(items).some((item) => item.kind === "thought" && item.text === thoughts.join(""));
  return { thoughts: [], calls: [], pieces: ["Oslo 7,", isKept ? " Rome 19" : " Rome 19, without a thought"], usage };
}

function complaintAbout(items: Item[], voice: Voice): string | null {
  const results = items.filter((item) => item.kind === "result");
  const answered = new Map(results.map(({ id, text }) => [id, text]));
  const calls = items.filter((item) => item.kind === "call");
  const wrong = calls.find(({ id, input }) => answered.get(id) !== weather[String(input["city"])]);
  return (
    wrongResults(items) ??
    (wrong && `the call for ${String(wrong.input["city"])} has another result or none: ${JSON.stringify(items)}`) ??
    lostSignature(lastTurn(items), voice)
  );
}

/** What came after the last question. */
function lastTurn(items: Item[]): Item[] {
  return items.slice(items.findLastIndex(({ kind }) => kind === "question") + 1);
}

/** @param isQuiet nothing is sent for a while before the last piece of the text */
function written(events: string[], isQuiet: boolean): StubAnswer {
  return async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    let isToWait = isQuiet;
    for (const one of events) {
      if (isToWait && one.includes(" Rome 19")) {
        await new Promise((resolve) => setTimeout(resolve, quietMs));
        isToWait = false;
      }
      response.write(one);
    }
    response.end();
  };
}
