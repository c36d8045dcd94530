/**
 * Two providers in one server, each with a path of its own. It records each call: its times, its key, its end and the amount that it
 * would bill. The last message, or the text to embed, contains instructions for the answer, such as `tokens=12 gap_ms=50`, so that the
 * client decides.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { base64Of, vectorAt } from "../../../support/providers/embedding-answers.ts";

export interface ProviderCall {
  /** Weir's generation id, which the gateway sends. */
  generation: string;
  /** The provider that was called, by its id. */
  provider: string;
  /** Its name upstream. */
  model: string;
  /** The key that the call carried. */
  key: string;
  /** Wall-clock milliseconds. */
  startedAt: number;
  endedAt: number | null;
  streamed: boolean;
  /** open: not finished. answered: every byte was sent. cancelled: the gateway hung up. failed: answered with an error. */
  state: "open" | "answered" | "cancelled" | "failed";
  /** The tokens on the provider's bill; null: nothing is billed. */
  billed: { promptTokens: number; completionTokens: number } | null;
  /** The number of the client's call, from its message; null: a launch check, or another call without a client. */
  call: number | null;
}

/** The prices of all models of the catalog, in nano-USD per token. */
const price = { prompt: 1_000n, completion: 2_000n };

/** The amount that a call should cost, in nano-USD; null: nothing was billed. */
export function costOf({ billed }: ProviderCall): bigint | null {
  if (billed === null) return null;
  return BigInt(billed.promptTokens) * price.prompt + BigInt(billed.completionTokens) * price.completion;
}

interface Instructions {
  call: number | null;
  tokens: number;
  gapMs: number;
  status: number;
  /** The status if the call carries an own key. */
  ownStatus: number;
  /** The status if the call is one of the first model. */
  firstStatus: number;
}

const promptTokens = 20;

/** The name upstream of the model that one provider serves. */
export const firstModel = "stub-model";

/** Every own key begins so, and the id of its workspace follows. */
export const ownKeyStart = "sk-own-";

export class Provider implements AsyncDisposable {
  readonly calls: ProviderCall[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response).catch(() => response.destroy()));
    this.#server.keepAliveTimeout = 120_000;
  }

  static async start(): Promise<Provider> {
    const provider = new Provider();
    await new Promise<void>((resolve) => provider.#server.listen(0, "127.0.0.1", resolve));
    return provider;
  }

  /** The `base_url` of a provider for the catalog. */
  readonly urlOf = (provider: string): string =>
    // The server listens on a TCP port, so this is neither a pipe's name nor null.
    `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${provider}`;

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = Date.now();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = readBody(Buffer.concat(chunks).toString());
    const order = instructionsIn(body.content);
    const key = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const generation = String(request.headers["x-client-request-id"] ?? "");
    const call: ProviderCall = {
      generation,
      provider: request.url?.split("/")[1] ?? "",
      model: body.model,
      key,
      startedAt,
      endedAt: null,
      streamed: body.streamed,
      state: "open",
      billed: null,
      call: order?.call ?? null,
    };
    this.calls.push(call);
    const answer = order ?? { call: null, tokens: 1, gapMs: 0, status: 200, ownStatus: 200, firstStatus: 200 };
    if (key.startsWith(ownKeyStart) && answer.ownStatus !== 200) answer.status = answer.ownStatus;
    if (call.model === firstModel && answer.firstStatus !== 200) answer.status = answer.firstStatus;
    if (body.inputs !== null) answer.tokens = 0;
    response.on("close", () => close({ call, response, answer }));
    if (answer.status !== 200) return void response.writeHead(answer.status, { "content-type": "application/json" }).end("{}");
    if (body.inputs !== null) await answerEmbeddings(response, answer, body);
    else await (body.streamed ? answerStream(response, answer) : answerWhole(response, answer));
  }
}

function close({ call, response, answer }: { call: ProviderCall; response: ServerResponse; answer: Instructions }): void {
  call.endedAt = Date.now();
  if (!response.writableFinished) call.state = "cancelled";
  else if (answer.status !== 200) call.state = "failed";
  else {
    call.state = "answered";
    call.billed = { promptTokens, completionTokens: answer.tokens };
  }
}

interface Body {
  model: string;
  content: string;
  streamed: boolean;
  /** null: it is not an embeddings request. */
  inputs: string[] | null;
}

function readBody(text: string): Body {
  const fields = JSON.parse(text) as {
    model?: string;
    stream?: boolean;
    messages?: { content?: string | { text?: string }[] }[];
    input?: string[];
  };
  const { model = "", stream, messages, input } = fields;
  const said = input?.at(-1) ?? messages?.at(-1)?.content ?? "";
  const content = typeof said === "string" ? said : said.map(({ text: part = "" }) => part).join("");
  return { model, content, streamed: stream === true, inputs: input ?? null };
}

/** null: the message contains no instructions. */
function instructionsIn(content: string): Instructions | null {
  const numbers = new Map([...content.matchAll(/(\w+)=(\d+)/g)].map(([, name, value]) => [name, Number(value)]));
  const tokens = numbers.get("tokens");
  if (tokens === undefined) return null;
  const [status = 200, ownStatus = 200, firstStatus = 200] = ["status", "own_status", "first_status"].map((name) =>
    numbers.get(name),
  );
  return { call: numbers.get("call") ?? null, tokens, gapMs: numbers.get("gap_ms") ?? 0, status, ownStatus, firstStatus };
}

const head = { id: "chatcmpl-chaos", created: 1_795_000_000, model: "stub-model" };

function usageOf({ tokens }: Instructions) {
  return { prompt_tokens: promptTokens, completion_tokens: tokens, total_tokens: promptTokens + tokens };
}

async function answerWhole(response: ServerResponse, order: Instructions): Promise<void> {
  if (order.gapMs > 0) await new Promise((resolve) => setTimeout(resolve, order.gapMs));
  const message = { role: "assistant", content: "word ".repeat(order.tokens), refusal: null };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
  const text = JSON.stringify({ ...head, object: "chat.completion", choices, usage: usageOf(order) });
  response.writeHead(200, { "content-type": "application/json" }).end(text);
}

async function answerEmbeddings(response: ServerResponse, order: Instructions, { inputs, model }: Body): Promise<void> {
  if (order.gapMs > 0) await new Promise((resolve) => setTimeout(resolve, order.gapMs));
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  const vectors = (inputs ?? []).map((_, index) => base64Of(vectorAt(index)));
  const data = vectors.map((embedding, index) => ({ object: "embedding", index, embedding }));
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ object: "list", data, model, usage }));
}

async function answerStream(response: ServerResponse, order: Instructions): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: object, finish: string | null) =>
    response.write(`data: ${chunk([{ index: 0, delta, logprobs: null, finish_reason: finish }])}\n\n`);
  for (let token = 0; token < order.tokens; token++) {
    if (token > 0 && order.gapMs > 0) await new Promise((resolve) => setTimeout(resolve, order.gapMs));
    if (response.destroyed) return;
    send({ content: "word " }, null);
  }
  send({}, "stop");
  response.end(`data: ${chunk([], usageOf(order))}\n\ndata: [DONE]\n\n`);
}

function chunk(choices: object[], usage?: object): string {
  return JSON.stringify({ ...head, object: "chat.completion.chunk", choices, ...(usage && { usage }) });
}
