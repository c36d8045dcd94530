/**
 * The answer of an embeddings request, in the official form. A large one is written in pieces, each made when the client has room for it,
 * so that its text is never whole in memory. A client that reads nothing for a minute is dropped, which frees the vectors' memory. The
 * charge is settled before the first piece: a client that breaks off has paid.
 */
import { Buffer } from "node:buffer";
import { Type } from "@sinclair/typebox";
import type { Clock } from "../../../kernel/clock.ts";
import { embeddingPieceBytes, streamStallMsMax } from "../../limits.ts";
import type { Vector } from "../../providers/embedding.ts";

const tokens = (description: string) => Type.Integer({ minimum: 0, description });

const EmbeddingItem = Type.Object({
  object: Type.Literal("embedding", { description: "The kind of object" }),
  index: Type.Integer({ minimum: 0, description: "The place of its input" }),
  embedding: Type.Union([Type.Array(Type.Number()), Type.String()], {
    description: "The vector: numbers, or base64 of little-endian 32-bit floats if the request asks for `base64`",
  }),
});

export const EmbeddingBody = Type.Object({
  object: Type.Literal("list", { description: "What this is" }),
  data: Type.Array(EmbeddingItem, { description: "A vector for each input, in the order of the inputs" }),
  model: Type.String({ description: "The id of the model, as requested" }),
  usage: Type.Object(
    { prompt_tokens: tokens("Tokens of the inputs"), total_tokens: tokens("All tokens: those of the inputs") },
    { description: "The charged usage" },
  ),
});

interface EmbeddingFacts {
  vectors: readonly Vector[];
  base64: boolean;
  /** The model's id in the catalog, as the client requested it. */
  model: string;
  /** The charged tokens. */
  promptTokens: number;
}

/** Roughly the most characters that a number takes. */
const charactersPerNumber = { base64: 6, float: 13 };

const encoder = new TextEncoder();

interface EmbeddingResponseOptions {
  headers: Record<string, string>;
  /** Takes over the lease of the vectors' memory; disposed after the last piece, or when the client has gone or stopped reading. */
  memory: () => Disposable;
  clock: Clock;
}

export function embeddingResponse(facts: EmbeddingFacts, { headers, memory, clock }: EmbeddingResponseOptions): Response {
  const { vectors, base64 } = facts;
  const perVector = (vectors[0]?.length ?? 0) * charactersPerNumber[base64 ? "base64" : "float"];
  const vectorsPerPiece = Math.max(1, Math.floor(embeddingPieceBytes / Math.max(1, perVector)));
  const options = { headers: { "content-type": "application/json", "x-content-type-options": "nosniff", ...headers } };
  const pieces = piecesOf(facts, vectorsPerPiece);
  if (vectors.length <= vectorsPerPiece) return new Response([...pieces].join(""), options);
  return new Response(streamOf(pieces, memory(), clock), options);
}

function* piecesOf({ vectors, base64, model, promptTokens }: EmbeddingFacts, vectorsPerPiece: number): Generator<string> {
  yield '{"object":"list","data":[';
  for (let at = 0; at < vectors.length; at += vectorsPerPiece) {
    const items = vectors.slice(at, at + vectorsPerPiece).map((vector, place) => itemText(vector, at + place, base64));
    yield (at === 0 ? "" : ",") + items.join(",");
  }
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  yield `],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`;
}

function itemText(vector: Vector, index: number, base64: boolean): string {
  const value = base64 ? `"${base64Of(vector)}"` : JSON.stringify(numbersOf(vector));
  return `{"object":"embedding","index":${index},"embedding":${value}}`;
}

function base64Of(vector: Vector): string {
  const { buffer, byteOffset, byteLength } = vector instanceof Float32Array ? vector : Float32Array.from(vector);
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

/** 32-bit floats in their shortest decimal form, which is half as long as that of the 64-bit float. */
function numbersOf(vector: Vector): readonly number[] {
  return vector instanceof Float32Array ? Array.from(vector, shortest) : vector;
}

/** Nine digits identify every 32-bit float; most need fewer. */
function shortest(value: number): number {
  for (const digits of [7, 8]) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return Number(value.toPrecision(9));
}

/**
 * Makes a piece only when the client has room for it. A client that reads nothing for a minute is dropped: the server never reports one
 * that left before the answer began.
 */
function streamOf(pieces: Generator<string>, memory: Disposable, clock: Clock): ReadableStream<Uint8Array> {
  let cancelDeadline = (): void => {};
  const end = (): void => {
    cancelDeadline();
    memory[Symbol.dispose]();
  };
  const waitForClient = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    cancelDeadline = clock.after(streamStallMsMax, () => {
      end();
      controller.error(new Error("The client does not read its answer"));
    });
  };
  return new ReadableStream(
    {
      start: waitForClient,
      pull(controller) {
        cancelDeadline();
        const { done, value } = pieces.next();
        if (done) {
          end();
          return controller.close();
        }
        controller.enqueue(encoder.encode(value));
        waitForClient(controller);
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}
