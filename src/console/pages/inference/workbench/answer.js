// Runs in the browser, in the Workbench: one place for an answer. It sends a request, shows the answer as it arrives, and says how it ended,
// what it cost and how fast it was. An error is shown in the answer's own place, after the text that came before it. A screen reader gets
// whole sentences. `data` of an answer is plain: the history keeps it, and `restore` shows it again.
"use strict";

{
  const { MarkdownWriter, PlainWriter, showThoughts, showCalls } = globalThis.workbench;

  /** Sentences that stay in the page for a screen reader. */
  const saidMax = 50;
  /** Characters without an end of a sentence that are said all the same. */
  const sayAfter = 2_000;

  const states = {
    waiting: ["neutral", "Waiting …"],
    answering: ["neutral", "Answering …"],
    done: ["good", "Done"],
    cut: ["warn", "Cut off at the token limit"],
    filtered: ["warn", "Stopped by the filter"],
    stopped: ["neutral", "Stopped by you"],
    failed: ["bad", "Failed"],
  };
  const ends = { length: "cut", content_filter: "filtered" };

  const element = (name, ...contents) => {
    const made = document.createElement(name);
    made.append(...contents);
    return made;
  };

  const timeOf = (ms) => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);

  const costOf = (usd) => `$${usd.replace(/(\.\d\d\d*?)0+$/, "$1")}`;

  /** Tokens a second from the first token on; null: too few or too fast to say. */
  const speedOf = ({ tokens, firstMs, totalMs }) => {
    const seconds = firstMs === null ? 0 : (totalMs - firstMs) / 1_000;
    return tokens && tokens[1] > 1 && seconds >= 0.05 ? tokens[1] / seconds : null;
  };

  const speedWords = (speed) => (speed === null ? null : `${speed < 10 ? speed.toFixed(1) : Math.round(speed)} tokens/s`);

  /** Reads the events of a stream, as they arrive. */
  async function* eventsOf(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value = "" } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line.startsWith("data: {")) yield JSON.parse(line.slice("data: ".length));
    }
  }

  /** Adds the pieces of a call to what came before. */
  const addCalls = (calls, pieces = []) => {
    for (const { index, id, type, function: called, custom } of pieces) {
      calls[index] ??= { id, type, [type]: { name: "", [type === "custom" ? "input" : "arguments"]: "" } };
      for (const [field, text] of Object.entries(called ?? custom ?? {})) calls[index][calls[index].type][field] += text;
    }
  };

  class Speaker {
    waiting = "";

    constructor(log) {
      this.log = log;
    }

    add(text) {
      this.waiting += text;
      const marks = [...this.waiting.matchAll(/[.!?…:]\s|\n|[。！？]/g)].map(({ index, 0: mark }) => index + mark.length);
      const end = marks.at(-1) ?? (this.waiting.length > sayAfter ? this.waiting.length : 0);
      this.say(this.waiting.slice(0, end));
      this.waiting = this.waiting.slice(end);
    }

    end() {
      this.say(this.waiting);
      this.waiting = "";
    }

    say(words) {
      if (words.trim() === "") return;
      this.log.append(element("p", words.trim()));
      if (this.log.childElementCount > saidMax) this.log.firstElementChild.remove();
    }
  }

  class AnswerPane {
    /** null: there is no answer yet. */
    data = null;
    isPlain = false;
    writer = null;
    /** Whether the reader is at the end of the answer, and wants to stay there. */
    follows = true;

    /** @param addresses of the service: `endpoint`, `log`, `requests`, `signIn` */
    constructor(root, addresses) {
      this.root = root;
      this.addresses = addresses;
      const { answer } = this;
      answer.addEventListener("scroll", () => (this.follows = answer.scrollHeight - answer.scrollTop - answer.clientHeight < 40));
      this.find("plain").addEventListener("click", () => this.turn());
      this.find("json").addEventListener("toggle", () => this.writeJson());
    }

    find(name) {
      return this.root.querySelector(`[data-${name}]`);
    }

    get answer() {
      return this.find("answer");
    }

    get model() {
      return this.find("model").value;
    }

    clear() {
      this.data = null;
      this.writer?.end?.();
      this.writer = null;
      for (const name of ["text", "calls", "thoughts", "said", "facts", "state"]) this.find(name).replaceChildren();
      for (const name of ["error", "facts", "after", "thoughts"]) this.find(name).hidden = true;
      this.find("json").open = false;
      this.answer.dataset.empty = "";
      this.follows = true;
    }

    say(state) {
      const [tone, words] = states[state];
      this.data.state = state;
      this.find("state").className = `badge ${tone}`;
      this.find("state").textContent = words;
    }

    fail(error) {
      this.data.error = error;
      const { message, code, status } = error;
      const words = code ? `${message} (${code})` : message;
      const link = element("a", "Sign in again");
      link.href = this.addresses.signIn;
      const ended = ["Your session has ended. What you wrote is kept in this tab. ", link];
      this.find("error").replaceChildren(...(status === 401 ? ended : [words]));
      this.find("error").hidden = false;
      delete this.answer.dataset.empty;
    }

    /** Writes more of the text. */
    write(text) {
      delete this.answer.dataset.empty;
      this.writer ??= new (this.isPlain ? PlainWriter : MarkdownWriter)(this.find("text"));
      this.writer.add(text);
      if (this.follows) requestAnimationFrame(() => this.follow());
    }

    /** Goes to the end of the answer. */
    follow() {
      if (this.follows) this.answer.scrollTop = this.answer.scrollHeight;
    }

    /** Shows the same text the other way: as Markdown or as it is. */
    turn() {
      this.isPlain = !this.isPlain;
      this.find("plain").setAttribute("aria-pressed", String(this.isPlain));
      this.writer?.end?.();
      this.writer = null;
      this.find("text").replaceChildren();
      if (this.data !== null && this.data.text !== "") this.write(this.data.text);
      if (!this.isRunning) this.writer?.end?.();
    }

    get isRunning() {
      return this.data?.state === "waiting" || this.data?.state === "answering";
    }

    writeJson() {
      if (!this.find("json").open || this.data === null) return;
      const { model, finish, usage, logprobs, id } = this.data;
      const choice = {
        message: messageOf(this.data),
        finish_reason: finish,
        ...(logprobs.length > 0 && { logprobs: { content: logprobs } }),
      };
      this.find("json-text").textContent = JSON.stringify({ id, model, choices: [choice], usage }, null, 2);
    }

    /** Sends the request; resolves at the end of the answer, however it ends. */
    async run(request, signal) {
      this.clear();
      const blank = {
        firstMs: null,
        totalMs: 0,
        id: null,
        text: "",
        thoughts: "",
        calls: [],
        logprobs: [],
        finish: null,
        usage: null,
      };
      const data = (this.data = { model: request.model, ...blank, tokens: null, cost: null, error: null });
      const startedAt = performance.now();
      this.say("waiting");
      const body = JSON.stringify({ ...request, stream: true, stream_options: { include_usage: true } });
      try {
        const headers = { "content-type": "application/json" };
        const response = await fetch(this.addresses.endpoint, { method: "POST", headers, body, signal });
        data.id = response.headers.get("x-generation-id");
        if (response.ok) await this.read(response.body, startedAt);
        else this.fail({ ...(await errorOf(response)), status: response.status });
      } catch {
        if (!signal.aborted) this.fail({ message: "The connection was lost" });
      }
      data.totalMs = performance.now() - startedAt;
      // Another run has begun here.
      if (this.data !== data) return Object.assign(data, { state: "stopped" });
      this.say(signal.aborted ? "stopped" : data.error !== null ? "failed" : (ends[data.finish] ?? "done"));
      this.end();
      this.follow();
      if (data.id && signal.aborted) await this.findCost(data);
      return data;
    }

    async read(body, startedAt) {
      const { data } = this;
      const speaker = new Speaker(this.find("said"));
      try {
        for await (const { error, usage, choices = [] } of eventsOf(body)) {
          if (error) this.fail(error);
          if (usage)
            Object.assign(data, {
              usage,
              tokens: [usage.prompt_tokens, usage.completion_tokens],
              cost: usage.cost_details?.cost_usd,
            });
          const [{ delta = {}, finish_reason: finish, logprobs } = {}] = choices;
          data.finish = finish ?? data.finish;
          data.logprobs.push(...(logprobs?.content ?? []));
          addCalls(data.calls, delta.tool_calls);
          const text = (delta.content ?? "") + (delta.refusal ?? "");
          if (text === "" && !delta.reasoning_content && !delta.tool_calls) continue;
          if (data.firstMs === null) this.say("answering");
          data.firstMs ??= performance.now() - startedAt;
          if (delta.reasoning_content) showThoughts(this, delta.reasoning_content);
          if (text === "") continue;
          data.text += text;
          this.write(text);
          speaker.add(text);
        }
      } finally {
        speaker.end();
      }
    }

    /** Shows what stands at the end of an answer. */
    end() {
      const { data } = this;
      this.writer?.end?.();
      showCalls(this.find("calls"), data.calls);
      if (data.calls.length > 0) delete this.answer.dataset.empty;
      this.find("after").hidden = data.text === "" && data.calls.length === 0;
      this.find("raw").value = data.text;
      if (data.id) this.showFacts();
      this.writeJson();
    }

    showFacts() {
      const { id, cost, tokens, firstMs, totalMs } = this.data;
      const link = element("a", "See the request");
      link.href = this.addresses.requests + id;
      const facts = {
        Cost: cost && costOf(cost),
        Tokens: tokens && `${tokens[0]} in, ${tokens[1]} out`,
        "First token": firstMs === null ? null : timeOf(firstMs),
        "Total time": timeOf(totalMs),
        Speed: speedWords(speedOf(this.data)),
        Request: link,
      };
      const rows = Object.entries(facts).filter(([, value]) => value);
      this.find("facts").replaceChildren(
        ...rows.map(([name, value]) => element("div", element("dt", name), element("dd", value))),
      );
      this.find("facts").hidden = false;
    }

    /** Of a stopped answer: the log has its cost shortly after the gateway has noticed. */
    async findCost(data) {
      for (let attempt = 0; attempt < 10 && this.data === data; attempt++) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        const response = await fetch(this.addresses.log).catch(() => null);
        const { data: rows = [] } = response?.ok ? await response.json() : {};
        const row = rows.find(({ generation_id: id }) => id === data.id);
        if (row === undefined) continue;
        Object.assign(data, { cost: row.cost_usd, tokens: [row.prompt_tokens, row.completion_tokens] });
        if (this.data === data) this.showFacts();
        return;
      }
    }

    /** @param data what `run` resolved to, also of an earlier visit */
    restore(data) {
      this.clear();
      this.data = data;
      this.follows = false;
      this.say(data.state);
      if (data.thoughts !== "") showThoughts(this, "");
      if (data.text !== "") this.write(data.text);
      if (data.error !== null) this.fail(data.error);
      this.end();
      if (data.isCut) this.find("state").textContent += ", kept in part";
    }
  }

  const errorOf = async (response) => {
    const { error } = await response.json().catch(() => ({}));
    return error ?? { message: `The service answered with status ${response.status}` };
  };

  /** The answer as a message of the conversation. */
  const messageOf = ({ text, thoughts, calls }) => ({
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(thoughts !== "" && { reasoning_content: thoughts }),
    ...(calls.length > 0 && { tool_calls: calls }),
  });

  // Two answers, compared in words

  /** Such as "40 % more" or "2.1 times as much". @param words for equal, for more and for less */
  const ratioWords = (ratio, { same, times, more, less }) => {
    if (Math.abs(ratio - 1) < 0.05) return same;
    if (ratio >= 2) return `${ratio < 10 ? ratio.toFixed(1).replace(/\.0$/, "") : Math.round(ratio)} times ${times}`;
    return ratio > 1 ? `${Math.round((ratio - 1) * 100)} % ${more}` : `${Math.round((1 - ratio) * 100)} % ${less}`;
  };

  /** What is known of both; null: nothing is. */
  const comparisonOf = (first, second) => {
    const told = ["done", "cut", "filtered"];
    if (!told.includes(first?.state) || !told.includes(second?.state)) return null;
    const ratio = (of) => {
      const [one, other] = [Number(of(first)), Number(of(second))];
      return one > 0 && other > 0 ? other / one : null;
    };
    const [cost, time, speed] = [ratio(({ cost }) => cost), ratio(({ totalMs }) => totalMs), ratio(speedOf)];
    const much = { same: "as much", times: "as much", more: "more", less: "less" };
    const long = { same: "as long", times: "as long", more: "longer", less: "less time" };
    const fast = {
      same: "as many tokens a second",
      times: "as many tokens a second",
      more: "more tokens a second",
      less: "fewer tokens a second",
    };
    const parts = [
      cost === null ? null : `cost ${ratioWords(cost, much)}`,
      time === null ? null : `took ${ratioWords(time, long)}`,
      speed === null ? null : `wrote ${ratioWords(speed, fast)}`,
    ].filter((part) => part !== null);
    if (parts.length === 0) return null;
    const list = parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
    return `Compared with answer 1, answer 2 ${list}.`;
  };

  globalThis.workbench = { ...globalThis.workbench, AnswerPane, messageOf, comparisonOf, speedOf };
}
