/** A model's message and the deltas of a streamed message, in the official form. */
import { Type, type Static, type TProperties } from "@sinclair/typebox";
import type { WholeAnswer } from "../../providers/provider.ts";

const name = Type.String({ description: "Name of the function" });
const callArguments = Type.String({ description: "The arguments as a JSON text, as the model wrote it" });
const customName = Type.String({ description: "Name of the custom tool" });
const customInput = Type.String({ description: "The input as the model wrote it" });
const callId = Type.String({ description: "Id of the call; send it back unchanged as `tool_call_id` with the tool's result" });

const FunctionCall = Type.Object({ name, arguments: callArguments });
const CustomCall = Type.Object({ name: customName, input: customInput });
const toolKind = <Word extends string>(word: Word) => Type.Literal(word, { description: "The kind of tool that is called" });

const ToolCall = Type.Union([
  Type.Object({
    id: callId,
    type: toolKind("function"),
    function: Type.Object(FunctionCall.properties, { description: "The function that is called" }),
  }),
  Type.Object({
    id: callId,
    type: toolKind("custom"),
    custom: Type.Object(CustomCall.properties, { description: "The custom tool that is called" }),
  }),
]);

const Citation = Type.Object({
  type: Type.Literal("url_citation", { description: "The only kind" }),
  url_citation: Type.Object(
    {
      url: Type.String({ description: "Address of the page" }),
      title: Type.String({ description: "Title of the page" }),
      start_index: Type.Integer({ description: "Where the citation begins in the text, in characters" }),
      end_index: Type.Integer({ description: "Where the citation ends in the text, in characters" }),
    },
    { description: "A page that the text refers to" },
  ),
});

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** Fields that a message may have beside its text. */
const additionalFields = {
  annotations: Type.Optional(Type.Array(Citation, { description: "Pages that the text refers to" })),
  reasoning_content: Type.Optional(
    Type.String({ description: "The model's reasoning, if its provider sends it", "x-addition": true }),
  ),
};

export const MessageBody = Type.Object({
  role: Type.Literal("assistant", { description: "The speaker" }),
  content: textOrNull("The text of the answer; null if the model only calls tools or refuses"),
  refusal: textOrNull("Why the model refuses, in its own words; null if it does not"),
  tool_calls: Type.Optional(Type.Array(ToolCall, { minItems: 1, description: "Calls of the tools that were sent" })),
  function_call: Type.Optional(
    Type.Object(FunctionCall.properties, { deprecated: true, description: "A call of one of `functions`" }),
  ),
  ...additionalFields,
});
export type MessageBody = Static<typeof MessageBody>;

/**
 * Wire formats return only these fields, in the official form: test/wire checks that. Without text, calls and refusal the content is an
 * empty text, so that the client can send the message back: the official schema takes null only beside one of them.
 */
export function messageBody(message: WholeAnswer["message"]): MessageBody {
  const { content, refusal, tool_calls, function_call } = message as MessageBody;
  if (content !== null || refusal !== null || tool_calls !== undefined || function_call !== undefined)
    return message as MessageBody;
  return { ...(message as MessageBody), content: "" };
}

const ToolCallPiece = Type.Object({
  index: Type.Integer({ minimum: 0, description: "The index of the call that this piece belongs to" }),
  id: Type.Optional(callId),
  type: Type.Optional(
    Type.Union([Type.Literal("function"), Type.Literal("custom")], { description: "The kind of tool that is called" }),
  ),
  function: Type.Optional(pieceOf(FunctionCall.properties, "A piece of a call of a function")),
  custom: Type.Optional(pieceOf(CustomCall.properties, "A piece of a call of a custom tool")),
});

/** The new piece since the previous chunk; texts are joined. */
export const DeltaBody = Type.Object({
  role: Type.Optional(Type.Literal("assistant", { description: "The speaker, in the first chunk" })),
  content: Type.Optional(textOrNull("More of the text")),
  refusal: Type.Optional(textOrNull("More of the refusal")),
  tool_calls: Type.Optional(Type.Array(ToolCallPiece, { minItems: 1, description: "More of the calls of tools" })),
  function_call: Type.Optional(pieceOf(FunctionCall.properties, "More of a call of one of `functions`")),
  ...additionalFields,
});

function pieceOf(properties: TProperties, description: string) {
  return Type.Partial(Type.Object(properties), { description });
}
