/**
 * What the sign-in and the account page show of a second factor: the secret as a QR code, the form of a code, and the recovery codes.
 * Secret and codes are shown once. The QR code is drawn here, so that no other service learns the secret.
 */
import { encode } from "uqr";
import type { ShownSecret } from "../../accounts/second-factor/totp.ts";
import { markup, type Html } from "../../http/html.ts";
import { form, type FormState } from "../look/forms.ts";
import { codeBlock } from "../look/parts.ts";

/** The secret for an app, which is shown only now. */
export function secretToScan({ secret, uri }: ShownSecret): Html {
  return markup`<p>Scan this with an app for one-time codes. It is shown only now.</p>
    <p>${qrCode(uri, "QR code with the secret for your app; the same secret follows as text")}</p>
    <p>Or type it into the app:</p>
    ${codeBlock({ id: "secret", code: inTwoLines(secret), label: "Secret for your app" })}
    <p>Then type the code that the app shows.</p>`;
}

interface CodeForm {
  id: string;
  action: string;
  hidden?: Readonly<Record<string, string>>;
  problem: FormState["problem"];
  submit: string;
}

/** A refused code is not shown again, since it never becomes right. */
export function codeForm({ problem, ...rest }: CodeForm): Html {
  return form({
    ...rest,
    fields: [
      {
        kind: "whole",
        name: "code",
        label: "Code from the app",
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

/** In groups, to be typed; apps drop the spaces. */
function inTwoLines(secret: string): string {
  const groups = secret.match(/.{1,4}/g) ?? [];
  const half = Math.ceil(groups.length / 2);
  return `${groups.slice(0, half).join(" ")}\n${groups.slice(half).join(" ")}`;
}

// A QR code as SVG, drawn here, so that no other service learns what it holds.

/** Light modules around the code, as the standard requires. */
const border = 4;
const pixels = 220;

/** Dark on light in both themes, since cameras expect it. @param label what a screen reader says instead */
function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: "M", border });
  const path = data
    .map((row, y) =>
      runsOf(row)
        .map(({ from, length }) => `M${from} ${y}h${length}v1h-${length}z`)
        .join(""),
    )
    .join("");
  return markup`<svg role="img" aria-label="${label}" width="${pixels}" height="${pixels}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
    <rect width="${size}" height="${size}" fill="#fff" /><path fill="#000" d="${path}" />
  </svg>`;
}

/** Adjacent dark modules, as one bar. */
function runsOf(row: readonly boolean[]): { from: number; length: number }[] {
  const runs: { from: number; length: number }[] = [];
  for (const [x, isDark] of row.entries()) {
    const last = runs.at(-1);
    if (!isDark) continue;
    if (last && last.from + last.length === x) last.length++;
    else runs.push({ from: x, length: 1 });
  }
  return runs;
}
