/** What the sign-in and the account page show of a second factor. */
import type { ShownSecret } from "../../accounts/second-factor/totp.ts";
import { markup, type Html } from "../../http/html.ts";
import { codeBlock } from "../look/code.ts";
import { form, type FormState } from "../look/forms/form.ts";
import { qrCode } from "./qr-code.ts";

/** The secret of an app, which is shown only now. */
export function secretToScan({ secret, uri }: ShownSecret): Html {
  return markup`<p>Scan this with an app for one-time codes. It is shown only now.</p>
    <p>${qrCode(uri, "QR code with the secret for your app; the same secret follows as text")}</p>
    <p>Or type it into the app:</p>
    ${codeBlock({ id: "secret", code: inTwoLines(secret), label: "Secret for your app" })}
    <p>Then type the code that the app shows.</p>`;
}

/** In groups, to be typed; apps drop the spaces. */
function inTwoLines(secret: string): string {
  const groups = secret.match(/.{1,4}/g) ?? [];
  const half = Math.ceil(groups.length / 2);
  return `${groups.slice(0, half).join(" ")}\n${groups.slice(half).join(" ")}`;
}

interface CodeForm {
  id: string;
  action: string;
  hidden?: Readonly<Record<string, string>>;
  problem: FormState["problem"];
  submit: string;
}

/** A refused code is not shown again: it never becomes right. */
export function codeForm({ problem, ...rest }: CodeForm): Html {
  return form({
    ...rest,
    fields: [
      {
        kind: "whole",
        name: "code",
        label: "Code of the app",
        hint: "Six digits, which change every 30 seconds.",
        required: true,
        autocomplete: "one-time-code",
        charactersMax: 16,
      },
    ],
    state: { values: {}, problem },
  });
}

/** Codes that are shown only now. @param goOn the path to go to afterwards */
export function recoveryCodes(codes: readonly string[], goOn: string): Html {
  return markup`<p>The app is set up. Each of these codes replaces it once, for when you lose it. They are shown only now: keep them where the app is not.</p>
    ${codeBlock({ id: "recovery-codes", code: codes.join("\n"), label: "Recovery codes" })}
    <p><a class="button" href="${goOn}">I have stored them</a></p>`;
}
