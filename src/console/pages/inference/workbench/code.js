// Runs in the browser before workbench.js: writes the request of a form as a program that calls one of the three APIs. Messages and Responses
// call the fields of a chat completion otherwise, and lack some; what is left out is named beside the program. In Python, what the official
// package does not know goes into `extra_body`.
"use strict";

{
  const isSet = ([, value]) => value !== undefined;
  const setOf = (fields) => Object.fromEntries(Object.entries(fields).filter(isSet));
  const textsOf = (content) => (Array.isArray(content) ? content.map(({ text = "" }) => text).join("\n") : (content ?? ""));
  const isInstruction = ({ role }) => role === "system" || role === "developer";
  /** Undefined: there are none. */
  const instructionsOf = (messages) => {
    const texts = messages.filter(isInstruction).map(({ content }) => textsOf(content));
    return texts.length === 0 ? undefined : texts.join("\n\n");
  };
  const argumentsOf = (text) => {
    try {
      return JSON.parse(text);
    } catch {
      return {};
    }
  };

  // Messages

  const messageTurns = (messages) => {
    const turns = [];
    for (const { role, content, tool_calls: calls = [], tool_call_id: id } of messages.filter((one) => !isInstruction(one))) {
      const result = { type: "tool_result", tool_use_id: id, content: textsOf(content) };
      // All results of a message's calls are one message.
      if (role === "tool" && Array.isArray(turns.at(-1)?.content) && turns.at(-1).role === "user")
        turns.at(-1).content.push(result);
      else if (role === "tool") turns.push({ role: "user", content: [result] });
      else if (calls.length === 0) turns.push({ role, content });
      else turns.push({ role, content: [...textBlock(content), ...calls.map(toolUse)] });
    }
    return turns;
  };
  const textBlock = (content) => (textsOf(content) === "" ? [] : [{ type: "text", text: textsOf(content) }]);
  const toolUse = ({ id, function: called, custom }) => ({
    type: "tool_use",
    id,
    name: (called ?? custom).name,
    input: called ? argumentsOf(called.arguments) : { input: custom.input },
  });

  const emptySchema = { type: "object", properties: {} };
  const messageTool = ({ function: { name, description, parameters = emptySchema, strict }, cache_control }) =>
    setOf({ name, description, input_schema: parameters, strict, cache_control });

  const messageChoice = (choice, parallel) => {
    const types = { auto: "auto", required: "any", none: "none" };
    if (choice === undefined && parallel === undefined) return undefined;
    const named = choice?.function ? { type: "tool", name: choice.function.name } : { type: types[choice] ?? "auto" };
    return { ...named, ...(parallel === false && { disable_parallel_tool_use: true }) };
  };

  const messageOutput = (effort, format) => {
    const schema = format?.type === "json_schema" ? { type: "json_schema", schema: format.json_schema.schema } : undefined;
    const asked = effort === "minimal" ? "low" : effort === "none" ? undefined : effort;
    return asked === undefined && schema === undefined ? undefined : setOf({ effort: asked, format: schema });
  };

  // The newest version of Messages refuses a temperature, and every version wants a bound.
  const messagesRequest = ({
    model,
    messages,
    max_tokens = 1_024,
    stop,
    reasoning_effort: effort,
    response_format: format,
    ...rest
  }) => ({
    model,
    max_tokens,
    system: instructionsOf(messages),
    messages: messageTurns(messages),
    stop_sequences: stop,
    thinking: effort === "none" ? { type: "disabled" } : undefined,
    output_config: messageOutput(effort, format),
    tools: rest.tools?.filter(({ type }) => type === "function").map(messageTool),
    tool_choice: rest.tools && messageChoice(rest.tool_choice, rest.parallel_tool_calls),
    cache_control: rest.cache_control,
    models: rest.models,
    provider: rest.provider,
    usage: rest.usage,
  });

  // Responses

  const items = (messages) =>
    messages.flatMap(({ role, content, tool_calls: calls = [], tool_call_id: id }) => {
      if (role === "tool") return [{ type: "function_call_output", call_id: id, output: textsOf(content) }];
      const said = textsOf(content) === "" ? [] : [{ role, content: textsOf(content) }];
      return [...said, ...calls.map(callItem)];
    });
  const callItem = ({ id, function: called, custom }) =>
    called
      ? { type: "function_call", call_id: id, name: called.name, arguments: called.arguments }
      : { type: "custom_tool_call", call_id: id, name: custom.name, input: custom.input };

  const responseTool = ({ type, [type]: inner }) => ({ type, ...inner });
  const responseChoice = (choice) => (choice?.function ? { type: "function", name: choice.function.name } : choice);
  const responseFormat = ({ type, json_schema: named = {} }) => ({ type, ...named });

  const responsesRequest = ({
    model,
    messages,
    max_tokens,
    reasoning_effort: effort,
    verbosity,
    response_format: format,
    ...rest
  }) => {
    const [first, ...others] = messages;
    const leads = first?.role === "system";
    return {
      model,
      instructions: leads ? textsOf(first.content) : undefined,
      input: items(leads ? others : messages),
      temperature: rest.temperature,
      top_p: rest.top_p,
      max_output_tokens: max_tokens,
      reasoning: effort === undefined ? undefined : { effort },
      text:
        verbosity === undefined && format === undefined
          ? undefined
          : setOf({ verbosity, format: format && responseFormat(format) }),
      tools: rest.tools?.map(responseTool),
      tool_choice: responseChoice(rest.tool_choice),
      parallel_tool_calls: rest.parallel_tool_calls,
      include: rest.logprobs ? ["message.output_text.logprobs"] : undefined,
      top_logprobs: rest.top_logprobs,
      metadata: rest.metadata,
      user: rest.user,
      safety_identifier: rest.safety_identifier,
      prompt_cache_key: rest.prompt_cache_key,
      models: rest.models,
      provider: rest.provider,
      usage: rest.usage,
    };
  };

  /** Undefined fields are left out. */
  const requests = { chat: (chat) => chat, messages: messagesRequest, responses: responsesRequest };

  /** Fields of a chat that the other two have under no name. */
  const lacking = {
    chat: "",
    messages: `temperature top_p seed frequency_penalty presence_penalty verbosity logprobs top_logprobs logit_bias metadata user
      safety_identifier prompt_cache_key prediction functions function_call`,
    responses: "seed frequency_penalty presence_penalty stop logit_bias cache_control prediction functions function_call",
  };

  /** What the official packages for Python do not know. */
  const further = new Set(["cache_control", "models", "provider", "usage"]);

  const python = (value) => {
    const names = { true: "True", false: "False", null: "None" };
    const json = JSON.stringify(value, null, 4);
    // A word of JSON outside of its texts.
    return json
      .replaceAll(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (found) => names[found] ?? found)
      .replaceAll("\n", "\n    ");
  };

  const keywords = (body) => {
    const known = Object.entries(body).filter(([name]) => !further.has(name));
    const extra = Object.fromEntries(Object.entries(body).filter(([name]) => further.has(name)));
    const all = Object.keys(extra).length === 0 ? known : [...known, ["extra_body", extra]];
    return all.map(([name, value]) => `    ${name}=${python(value)},\n`).join("");
  };

  const notations = {
    shell: (body) => `'${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
    object: (body) => JSON.stringify(body, null, 2),
    keywords,
  };

  /** @param chat the request as the body of a chat completion */
  const programOf = ({ template, notation, api }, chat, { streams = false } = {}) => {
    const body = setOf({ ...requests[api](chat), stream: streams || undefined });
    return template.replace("{body}", () => notations[notation](body));
  };

  /** The fields of a chat that a program of this API leaves out. */
  const leftOut = (api, chat) => {
    const fields = lacking[api].split(/\s+/).filter((name) => chat[name] !== undefined);
    if (api !== "messages") return fields;
    const isPlainJson = chat.response_format?.type === "json_object";
    const hasCustomTools = chat.tools?.some(({ type }) => type === "custom");
    return [...fields, ...(isPlainJson ? ["response_format"] : []), ...(hasCustomTools ? ["custom tools"] : [])];
  };

  globalThis.workbench = { ...globalThis.workbench, programOf, leftOut };
}
