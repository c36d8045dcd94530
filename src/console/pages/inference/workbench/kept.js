// Runs in the browser, in the Workbench: what stays in this browser alone, for one person and one workspace. Runs and presets are in the
// local storage, each under its own key, so that two tabs write beside each other and lose nothing. The draft is in the tab's own storage.
// Number and size of all of them are bounded: the oldest runs go first. Runs are ordered by the order in which they were kept, not by the
// clock, which may be wrong. A storage that is full, broken or forbidden keeps nothing, and says so.
"use strict";

{
  const runsMax = 50;
  /** Characters of all runs of a workspace together. A browser gives a service about five million. */
  const runsCharactersMax = 1_000_000;
  /** Characters of an answer that are kept. */
  const answerCharactersMax = 200_000;
  const presetsMax = 30;
  const presetNameMax = 80;
  const presetCharactersMax = 100_000;
  const draftCharactersMax = 500_000;

  const parsed = (text) => {
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  };

  /** null: the browser forbids it. */
  const storageOf = (name) => {
    try {
      return globalThis[name] ?? null;
    } catch {
      return null;
    }
  };

  const bounded = ({ text, thoughts, logprobs: _, ...answer }) => {
    const kept = text.slice(0, answerCharactersMax);
    const keptThoughts = thoughts.slice(0, answerCharactersMax - kept.length);
    const isCut = kept.length + keptThoughts.length < text.length + thoughts.length;
    return { ...answer, text: kept, thoughts: keptThoughts, logprobs: [], ...(isCut && { isCut }) };
  };

  class Kept {
    /** @param workspace its id @param person their address */
    constructor({ workspace, person, lasting = storageOf("localStorage"), ofTab = storageOf("sessionStorage") }) {
      this.prefix = `weir.workbench/${encodeURIComponent(workspace)}/${encodeURIComponent(person)}/`;
      this.lasting = lasting;
      this.ofTab = ofTab;
    }

    /** The keys of one kind, the oldest first. */
    keys(kind) {
      if (this.lasting === null) return [];
      const all = Array.from({ length: this.lasting.length }, (_, index) => this.lasting.key(index) ?? "");
      return all.filter((key) => key.startsWith(`${this.prefix}${kind}/`)).toSorted();
    }

    read(key) {
      return parsed(this.lasting.getItem(key) ?? "null");
    }

    /** @returns whether it is kept */
    write(key, text, storage = this.lasting) {
      if (storage === null) return false;
      try {
        storage.setItem(key, text);
        return true;
      } catch {
        return false;
      }
    }

    remove(key) {
      this.lasting?.removeItem(key);
    }

    // The history

    get keepsRuns() {
      return this.lasting !== null && this.lasting.getItem(`${this.prefix}off`) === null;
    }

    set keepsRuns(keeps) {
      if (keeps) this.remove(`${this.prefix}off`);
      else this.write(`${this.prefix}off`, "yes");
    }

    /** The newest first. Those that cannot be read are left out. */
    get runs() {
      const read = this.keys("run").map((key) => ({ ...this.read(key), key }));
      return read.filter(({ form, answers }) => form && Array.isArray(answers)).toReversed();
    }

    /** Other tabs may have added runs. @returns whether it is kept */
    addRun({ at, models, form, answers }) {
      if (!this.keepsRuns) return false;
      const text = JSON.stringify({ at, models, form, answers: answers.map(bounded) });
      if (text.length > runsCharactersMax) return false;
      const keys = this.keys("run");
      const sizes = keys.map((key) => this.lasting.getItem(key)?.length ?? 0);
      let sum = sizes.reduce((all, size) => all + size, text.length);
      const last = keys.at(-1)?.slice(`${this.prefix}run/`.length) ?? "";
      const dropOldest = () => {
        this.remove(keys.shift());
        sum -= sizes.shift();
      };
      while (keys.length >= runsMax || (sum > runsCharactersMax && keys.length > 0)) dropOldest();
      const number = String(Number(last.split("-")[0]) + 1).padStart(12, "0");
      // Two tabs may have counted to the same number.
      const key = `${this.prefix}run/${number}-${Math.random().toString(36).slice(2, 8)}`;
      while (!this.write(key, text)) {
        if (keys.length === 0) return false;
        dropOldest();
      }
      return true;
    }

    clearRuns() {
      for (const key of this.keys("run")) this.remove(key);
    }

    // Presets

    get presets() {
      const read = this.keys("preset").map((key) => ({ ...this.read(key), key }));
      return read.filter(({ name, form }) => typeof name === "string" && form);
    }

    /** Replaces one of the same name. @returns why it is not kept; null: it is */
    addPreset(name, { models, form }) {
      const key = `${this.prefix}preset/${encodeURIComponent(name)}`;
      const text = JSON.stringify({ name, models, form });
      if (name.length > presetNameMax) return `A name has at most ${presetNameMax} characters.`;
      if (text.length > presetCharactersMax) return "The prompt is too long for a preset.";
      const others = this.keys("preset").filter((one) => one !== key);
      if (others.length >= presetsMax) return `There are ${presetsMax} presets. Remove one first.`;
      return this.write(key, text) ? null : "The browser's storage is full or switched off.";
    }

    // The draft of this tab

    get draft() {
      return this.ofTab === null ? null : parsed(this.ofTab.getItem(`${this.prefix}draft`) ?? "null");
    }

    /** @returns whether it is kept */
    keepDraft(draft) {
      const text = JSON.stringify(draft);
      if (text.length <= draftCharactersMax && this.write(`${this.prefix}draft`, text, this.ofTab)) return true;
      this.ofTab?.removeItem(`${this.prefix}draft`);
      return false;
    }
  }

  globalThis.workbench = { ...globalThis.workbench, Kept, keptBounds: { runsMax, runsCharactersMax, answerCharactersMax } };
}
