/** Assembles the events of a provider's stream like a client's SDK, and throws on what no stream may contain. */
import type { ReportedUsage } from "../../../src/gateway/models/model.ts";
import type { FinishReason, ProviderEvent, UpstreamFailure } from "../../../src/gateway/providers/provider.ts";

interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

export class Transcript {
  text = "";
  refusal = "";
  reasoning = "";
  readonly toolCalls: ToolCall[] = [];
  readonly finishReasons: FinishReason[] = [];
  usage: ReportedUsage | null = null;
  failure: UpstreamFailure | null = null;
  last: ProviderEvent["kind"] | null = null;

  take(event: ProviderEvent): void {
    if (this.last === "end" || this.last === "failure") throw new Error(`There was a ${event.kind} after the ${this.last}`);
    this.last = event.kind;
    if (event.kind === "usage") this.usage = event.usage;
    if (event.kind === "failure") this.failure = event.failure;
    if (event.kind !== "delta") return;
    if (event.finishReason !== null) this.finishReasons.push(event.finishReason);
    const { content, refusal, reasoning_content, role, tool_calls } = event.delta;
    if (role !== undefined && role !== "assistant") throw new Error(`The role is ${JSON.stringify(role)}`);
    this.text += textOf(content);
    this.refusal += textOf(refusal);
    this.reasoning += textOf(reasoning_content);
    for (const piece of Array.isArray(tool_calls) ? tool_calls : []) this.#takeCall(piece);
  }

  /** The first piece of a call has id, type and name; the others an index and more of the arguments. */
  #takeCall(piece: { index: number; id?: string; type?: string; function: { name?: string; arguments: string } }): void {
    const known = this.toolCalls[piece.index];
    if (known) {
      if (piece.id !== undefined || piece.function.name !== undefined) throw new Error("A call was begun twice");
      known.arguments += piece.function.arguments;
    } else {
      if (piece.index !== this.toolCalls.length || piece.type !== "function") throw new Error("A call was not begun rightly");
      this.toolCalls.push({ id: piece.id ?? "", name: piece.function.name ?? "", arguments: piece.function.arguments });
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
