// Runs in the browser, in the Workbench: the form of a request. It reads what was typed as the body of a chat completion, names the field that
// cannot be read, and says which fields a model does not take. Its state is what was typed, also where that is no request yet: drafts,
// presets and the history keep it, and `restore` writes it back.
"use strict";

{
  /** What cannot be read, and where. */
  class FieldProblem extends Error {
    constructor(field, message) {
      super(message);
      this.field = field;
    }
  }

  const parsed = (field, name) => {
    try {
      return JSON.parse(field.value);
    } catch (error) {
      throw new FieldProblem(field, `${name} is not JSON: ${error.message}`);
    }
  };

  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

  /** What each kind of field makes of its text. */
  const readers = {
    number(field, name) {
      const number = Number(field.value);
      if (Number.isFinite(number)) return number;
      throw new FieldProblem(field, `${name} is not a number`);
    },
    choice: ({ value }) => (value === "true" ? true : value === "false" ? false : value),
    lines: ({ value }) => value.split("\n").filter((line) => line !== ""),
    check: () => ({ type: "ephemeral" }),
    tools(field, name) {
      const tools = parsed(field, name);
      if (!Array.isArray(tools) || !tools.every(isObject))
        throw new FieldProblem(field, `${name} is not a list of objects: [{ … }]`);
      // The tool alone, as many documents show it, is the function of a tool.
      return tools.map((tool) =>
        tool.type === undefined && tool.name !== undefined ? { type: "function", function: tool } : tool,
      );
    },
    schema(field, name) {
      const schema = parsed(field, name);
      if (isObject(schema)) return schema;
      throw new FieldProblem(field, `${name} is not an object: { … }`);
    },
    object(field, name) {
      const fields = readers.schema(field, name);
      const own = ["model", "messages", "stream", "stream_options", "n"].find((one) => one in fields);
      if (own === undefined) return fields;
      throw new FieldProblem(field, `${name} cannot set ${own}: the Workbench sets it`);
    },
  };

  const isSet = (field) => (field.type === "checkbox" ? field.checked : field.value.trim() !== "");

  /** The fields that the form has only in parts. */
  const joined = ({ format, schema, strict, choice, other = {}, top_logprobs: logprobs, ...fields }) => {
    const named = isObject(schema?.schema) && typeof schema.name === "string";
    const json_schema = named ? schema : { name: "answer", schema, strict };
    const chosen = choice?.startsWith("function:")
      ? { type: "function", function: { name: choice.slice("function:".length) } }
      : choice;
    return {
      ...fields,
      ...(format !== undefined && {
        response_format: format === "json_schema" ? { type: format, json_schema } : { type: format },
      }),
      ...(chosen !== undefined && { tool_choice: chosen }),
      ...(logprobs !== undefined && { logprobs: true, top_logprobs: logprobs }),
      ...other,
    };
  };

  const asText = (value) => JSON.stringify(value, null, 2);
  const number = (name) => (value) => (typeof value === "number" ? { [name]: String(value) } : null);
  const choice = (name) => (value) => (["string", "boolean"].includes(typeof value) ? { [name]: String(value) } : null);
  const isLine = (text) => typeof text === "string" && text !== "" && !text.includes("\n");

  /** Where the form has each field of a chat completion; null: not in this form, so it stays among the other fields. */
  const places = {
    ...Object.fromEntries(
      ["temperature", "max_tokens", "top_p", "seed", "frequency_penalty", "presence_penalty"].map((name) => [name, number(name)]),
    ),
    ...Object.fromEntries(["reasoning_effort", "verbosity", "parallel_tool_calls"].map((name) => [name, choice(name)])),
    logprobs: (value, { top_logprobs }) => (value === true && typeof top_logprobs === "number" ? {} : null),
    top_logprobs: (value, { logprobs }) => (logprobs === true ? number("top_logprobs")(value) : null),
    cache_control: (value) => (asText(value) === asText({ type: "ephemeral" }) ? { cache_control: "on" } : null),
    stop: (value) => ([value].flat().every(isLine) ? { stop: [value].flat().join("\n") } : null),
    tools: (value) => ({ tools: asText(value) }),
    tool_choice: (value, { tools }) => {
      const name = value?.type === "function" ? value.function?.name : undefined;
      return tools === undefined ? null : typeof name === "string" ? { choice: `function:${name}` } : choice("choice")(value);
    },
    response_format: ({ type, json_schema: schema }) => {
      if (type === "json_object") return { format: type };
      return isObject(schema?.schema) && typeof schema.name === "string" ? { format: type, schema: asText(schema) } : null;
    },
  };

  /** The parameters of the form's state for the fields of a chat completion; `joined` gives the fields back. */
  const placed = (fields) => {
    const state = {};
    const other = {};
    for (const [name, value] of Object.entries(fields)) {
      const place = Object.hasOwn(places, name) ? places[name](value, fields) : null;
      if (place === null) other[name] = value;
      else Object.assign(state, place);
    }
    return Object.keys(other).length === 0 ? state : { ...state, other: asText(other) };
  };

  class RequestForm {
    constructor(root) {
      this.root = root;
      this.system = root.querySelector("[data-system]");
      this.messages = root.querySelector("[data-messages]");
      this.fields = [...root.querySelectorAll("[data-parameter]")];
      this.number();
    }

    get turns() {
      return [...this.messages.children].map((turn) => ({
        role: turn.querySelector("select"),
        content: turn.querySelector("textarea"),
      }));
    }

    /** Whether a message has words. */
    get hasMessage() {
      return this.turns.some(({ content }) => content.value.trim() !== "");
    }

    field(name) {
      return this.fields.find(({ dataset }) => dataset.parameter === name);
    }

    // The messages

    number() {
      for (const [index, turn] of [...this.messages.children].entries()) {
        const labels = { textarea: "Message", select: "Author of message", "[data-remove]": "Remove message" };
        for (const [name, label] of Object.entries(labels))
          turn.querySelector(name).setAttribute("aria-label", `${label} ${index + 1}`);
        turn.querySelector("[data-remove]").disabled = this.messages.children.length === 1;
      }
    }

    /** @returns the field of the new message */
    add(role, content) {
      const turn = this.root.querySelector("[data-turn]").content.firstElementChild.cloneNode(true);
      turn.querySelector("select").value = role;
      turn.querySelector("textarea").value = content;
      this.messages.append(turn);
      this.number();
      return turn.querySelector("textarea");
    }

    /** Adds a message as an API has it: as JSON, unless it is nothing but a text of a user or of the model. */
    addMessage({ role, content, ...rest }) {
      const others = Object.values(rest).filter((value) => value !== null && value !== undefined);
      const isText = typeof content === "string" && others.length === 0;
      if (role === "system" && isText && this.turns.length === 0 && this.system.value === "")
        return void (this.system.value = content);
      if (isText && (role === "user" || role === "assistant")) return void this.add(role, content);
      this.add("json", JSON.stringify({ role, content, ...rest }, null, 2));
    }

    replaceMessages(messages) {
      this.system.value = "";
      this.messages.replaceChildren();
      for (const message of messages) this.addMessage(message);
      if (this.turns.length === 0) this.add("user", "");
    }

    /** Takes a stored request. */
    begin({ messages, parameters }) {
      this.restore({ parameters: placed(parameters) });
      this.replaceMessages(messages);
    }

    remove(turn) {
      turn.remove();
      this.number();
      this.turns.at(-1).content.focus();
    }

    // The request

    /** @throws FieldProblem */
    request(model) {
      return { model, messages: this.conversation(), ...this.parameters() };
    }

    conversation() {
      const turns = this.turns.filter(({ content }) => content.value.trim() !== "");
      const messages = turns.map(({ role, content }) => {
        if (role.value !== "json") return { role: role.value, content: content.value };
        const name = content.getAttribute("aria-label");
        const message = parsed(content, name);
        if (isObject(message) && typeof message.role === "string") return message;
        throw new FieldProblem(content, `${name} is not a message: { "role": …, "content": … }`);
      });
      return this.system.value.trim() === "" ? messages : [{ role: "system", content: this.system.value }, ...messages];
    }

    parameters() {
      const read = {};
      for (const field of this.fields.filter(isSet)) {
        const { parameter, kind } = field.dataset;
        read[parameter] = readers[kind](field, this.nameOf(field));
      }
      const { format, schema, tools, choice } = read;
      if (format === "json_schema" && schema === undefined)
        throw new FieldProblem(this.field("schema"), "JSON schema is missing");
      const strict = this.root.querySelector("[data-strict]").checked;
      const used = { ...read, strict, schema: format === "json_schema" ? schema : undefined };
      if (choice !== undefined && tools === undefined) delete used.choice;
      return joined(used);
    }

    nameOf({ id }) {
      return this.root.querySelector(`label[for="${id}"]`).firstChild.textContent.trim();
    }

    // What is set, and what a model does not take

    /** In a few words, for the folds. @returns the fields of each fold */
    describeFolds() {
      for (const fold of this.root.querySelectorAll("[data-fold]")) {
        const set = [...fold.querySelectorAll("[data-parameter]")].filter(isSet);
        const words = set.map((field) =>
          field.dataset.kind === "number" ? `${this.nameOf(field)} ${field.value}` : this.nameOf(field),
        );
        fold.querySelector("[data-set]").textContent = words.join(" · ");
      }
    }

    /** @param models each with its id and the words of what it takes; null: it is not known */
    noteUnsupported(models) {
      for (const field of this.fields) {
        const { needs = "", parameter } = field.dataset;
        const words = needs.split(" ").filter(Boolean);
        const lacks = ({ takes, fixed }) =>
          fixed.includes(parameter) || (words.length > 0 && !words.some((word) => takes.includes(word)));
        const names = isSet(field) ? models.filter(lacks).map(({ id }) => id) : [];
        const note = this.root.querySelector(`[data-note="${parameter}"]`);
        note.textContent = names.length === 0 ? "" : `${names.join(" and ")} may refuse this.`;
      }
    }

    /** Offers the named tools as a choice. */
    offerTools() {
      const choice = this.field("choice");
      const { value } = choice;
      let names = [];
      try {
        names = isSet(this.field("tools")) ? readers.tools(this.field("tools"), "").map((tool) => tool.function?.name) : [];
      } catch {
        // The request names the problem.
      }
      for (const option of choice.querySelectorAll("[data-named]")) option.remove();
      for (const name of names.filter((one) => typeof one === "string")) {
        const option = new Option(`Only ${name}`, `function:${name}`);
        option.dataset.named = "";
        choice.append(option);
      }
      choice.value = value;
      if (choice.selectedIndex === -1) choice.value = "";
    }

    /** Shows a problem at its field, and goes there; null: there is none. */
    showProblem(problem) {
      for (const shown of this.root.querySelectorAll("[data-problem]")) shown.remove();
      for (const field of this.root.querySelectorAll("[aria-invalid]")) {
        field.removeAttribute("aria-invalid");
        field.removeAttribute("aria-describedby");
      }
      if (problem === null) return;
      const { field, message } = problem;
      const words = document.createElement("p");
      Object.assign(words, { className: "problem", id: "bench-problem", textContent: message });
      words.dataset.problem = "";
      field.after(words);
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-describedby", words.id);
      const fold = field.closest("details");
      if (fold !== null) fold.open = true;
      field.focus();
    }

    // The state

    get state() {
      const parameters = Object.fromEntries(
        this.fields.filter(isSet).map((field) => [field.dataset.parameter, field.type === "checkbox" ? "on" : field.value]),
      );
      const turns = this.turns.map(({ role, content }) => ({ role: role.value, content: content.value }));
      return { system: this.system.value, turns, parameters, strict: this.root.querySelector("[data-strict]").checked };
    }

    restore({ system = "", turns = [], parameters = {}, strict = true }) {
      this.system.value = system;
      this.messages.replaceChildren();
      for (const { role, content } of turns.length === 0 ? [{ role: "user", content: "" }] : turns) this.add(role, content);
      for (const field of this.fields) {
        const value = parameters[field.dataset.parameter] ?? "";
        if (field.type === "checkbox") field.checked = value !== "";
        else field.value = value;
        if (field.dataset.parameter === "tools") this.offerTools();
      }
      this.root.querySelector("[data-strict]").checked = strict;
      this.showProblem(null);
    }
  }

  globalThis.workbench = { ...globalThis.workbench, RequestForm, FieldProblem, placed };
}
