/** Reading forms: what many small fields may cost. */
import { describe, expect, test } from "bun:test";
import { consoleDoors } from "../../src/console/routes.ts";
import { receiveForm } from "../../src/console/form.ts";
import { formBytesMax, formFieldsMax } from "../../src/console/limits.ts";
import { memberLane } from "../../src/accounts/quotas/lane.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { failureOf } from "../support/failure-of.ts";

const fileBytesMax = 50 * 1024 * 1024;

const door = consoleDoors(systemClock).forms.bodies;

async function read(request: Request) {
  using form = await receiveForm(request, { door, lane: memberLane("a@a", "a"), bytesMax: fileBytesMax });
  return await form.read();
}

function send(type: string, body: string) {
  const request = new Request("http://localhost/", { method: "POST", headers: { "content-type": type }, body });
  return read(request);
}

describe("a form", () => {
  test("a page that takes a file reads other forms only up to the size of a form without one", async () => {
    const failure = await failureOf(send("application/x-www-form-urlencoded", "&a".repeat(formBytesMax)));
    expect(failure).toHaveProperty("message", `The form is larger than ${formBytesMax} bytes`);
  });

  test("many fields or files are counted and refused before any is read", async () => {
    const file = '--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n1\r\n';
    for (const part of [file, "--x of no form\r\n"]) {
      const failure = await failureOf(send("multipart/form-data; boundary=x", part.repeat(1_000)));
      expect(failure).toHaveProperty("message", `The form has more than ${formFieldsMax} fields`);
    }
  });

  test("as many parts as fields are possible are read, and their separator has one reading", async () => {
    const fields = Array.from({ length: formFieldsMax }, (_, index): [string, string] => [`f${index}`, String(index)]);
    const form = new FormData();
    for (const [name, value] of fields) form.set(name, value);
    const whole = await read(new Request("http://localhost/", { method: "POST", body: form }));
    expect(Object.entries(whole.values())).toEqual(fields);
    const two = 'multipart/form-data; boundary=x; boundary="y"';
    expect(await failureOf(send(two, "--y--"))).toHaveProperty("message", "The form cannot be read");
  });
});
