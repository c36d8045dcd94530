/** Log lines as a person sees them. */
import { describe, expect, test } from "bun:test";
import { terminalLine } from "../../src/kernel/log.ts";

const head = { level: 30, at: "2026-11-26T12:34:56.789Z", role: "gateway", pid: 7 };
const plain = (fields: object): string => terminalLine(JSON.stringify({ ...head, ...fields }), { colours: false });

describe("a log line on a terminal", () => {
  test("the line begins with time, level and role, then says what happened, with its event and its fields", () => {
    expect(plain({ event: "listening", host: "127.0.0.1", port: 8080 })).toBe(
      "12:34:56.789Z info  gateway listening host=127.0.0.1 port=8080\n",
    );
    expect(plain({ level: 50, event: "settlement.dead", reason: "no such month", msg: "A settlement cannot be booked" })).toBe(
      '12:34:56.789Z error gateway A settlement cannot be booked settlement.dead reason="no such month"\n',
    );
  });

  test("a text of several lines is shown below the line, so that a stack can be read", () => {
    expect(plain({ event: "internal_error", reason: "Error: no\n    at a.ts:1" })).toBe(
      "12:34:56.789Z info  gateway internal_error\n  reason:\n    Error: no\n        at a.ts:1\n",
    );
  });

  test("the terminal gets no control character of a value, and no change of direction", () => {
    const line = plain({ event: "e\u001b[2J", reason: "a\u009b31mb", stack: "x\n\u001b]0;y\u0007\u202e" });
    expect(line.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(line).toContain("a\\u009b31mb");
  });

  test("the level has a colour where the terminal shows colours", () => {
    expect(terminalLine(JSON.stringify({ ...head, level: 40, msg: "late" }), { colours: true })).toContain(
      "\u001b[33mwarn \u001b[0m",
    );
  });

  test("a line that is not JSON stays as it is", () => {
    expect(terminalLine("no JSON\n", { colours: false })).toBe("no JSON\n");
  });
});
