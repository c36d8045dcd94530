/** docs/reference/control-api.md has the fields of each view and the flags of each verb. */
import type { TObject } from "@sinclair/typebox";
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { isRemote, isSending, type Verb } from "../../scripts/weir/verb.ts";
import { verbs } from "../../scripts/weir/verbs.ts";
import { AlertRuleView, AlertView } from "../../src/accounts/alerts/schema.ts";
import { AlertWebhookView } from "../../src/accounts/alerts/webhooks/schema.ts";
import { AuditView } from "../../src/accounts/audit/list.ts";
import { ConnectionTest, ConnectionView } from "../../src/connectors/connections/schema.ts";
import { CreditView } from "../../src/gateway/credit/schema.ts";
import { TopUpSettingsView, TopUpView } from "../../src/gateway/top-ups/schema.ts";
import { GenerationView } from "../../src/gateway/generations/schema.ts";
import { OwnKeyTest, OwnKeyView } from "../../src/gateway/own-keys/schema.ts";
import { KeyView } from "../../src/accounts/keys/schema.ts";
import { ProductView } from "../../src/security/products/schema.ts";
import { ProjectView, StoredSbom } from "../../src/security/projects/schema.ts";
import { PromptView } from "../../src/gateway/prompts/schema.ts";
import { ImportedRepository } from "../../src/security/repositories/schema.ts";
import { WorkspaceTicket } from "../../src/security/tickets/list-tickets.ts";
import { Rotation } from "../../src/accounts/secrets/rotate.ts";
import { AccountView, ListedMember, MemberView, WorkspaceView } from "../../src/accounts/workspaces/schema.ts";

const text = readFileSync(new URL("../../docs/reference/control-api.md", import.meta.url), "utf8");

const things: [string, TObject][] = [
  ["A workspace", WorkspaceView],
  ["Credit", CreditView],
  ["A top-up", TopUpView],
  ["Top-up settings", TopUpSettingsView],
  ["A member", MemberView],
  ["A listed member", ListedMember],
  ["An account", AccountView],
  ["A key", KeyView],
  ["A generation", GenerationView],
  ["A stored prompt", PromptView],
  ["A connection", ConnectionView],
  ["A test of a connection", ConnectionTest],
  ["An own provider key", OwnKeyView],
  ["A test of an own provider key", OwnKeyTest],
  ["A stored SBOM", StoredSbom],
  ["An imported repository", ImportedRepository],
  ["A product", ProductView],
  ["A project", ProjectView],
  ["A ticket", WorkspaceTicket],
  ["A rule of alerts", AlertRuleView],
  ["A webhook of alerts", AlertWebhookView],
  ["An alert", AlertView],
  ["An audit row", AuditView],
];

function callOf(verb: Verb): string {
  if (isRemote(verb)) return `\`${verb.method} ${verb.path}\``;
  return isSending(verb) ? `\`POST ${verb.sends}\`` : "nothing";
}

describe("docs/reference/control-api.md", () => {
  test.each(things)("%s has the listed fields in their order", (name, view) => {
    const [, listed] = new RegExp(`^- ${name}: \`([a-z_, ]+)\``, "m").exec(text) ?? [];
    expect(listed?.split(", ")).toEqual(Object.keys(view.properties));
  });

  test("the document names the fields of a rotation", () => {
    for (const field of Object.keys(Rotation.properties)) expect(text).toContain(`"${field}"`);
  });

  test("the document lists every verb of the command line with its flags and its call, and no other", () => {
    const listed = [...text.matchAll(/^\| `([a-z-]+(?: [a-z]+)?)` *\|([^|]*)\| (`[A-Z]+ \S+`|nothing) *\|$/gm)].map(
      ([, verb, flags, call]) => ({
        verb,
        flags: [...(flags ?? "").matchAll(/`--([a-z-]+)`(\?)?/g)].map(([, flag, optional]) => `${flag}${optional ?? ""}`),
        call,
      }),
    );
    const known = verbs.map((verb) => ({
      verb: `${verb.noun} ${verb.verb}`.trim(),
      flags: verb.flags.map(({ name, required }) => (required ? name : `${name}?`)),
      call: callOf(verb),
    }));
    expect(listed).toEqual(known);
  });

  test("the document names every event of the audit log", () => {
    const rooms = [
      "accounts",
      "gateway/credit",
      "gateway/own-keys",
      "gateway/prompts",
      "connectors/connections",
      "security/products",
      "security/projects",
      "security/findings/triage",
    ];
    const sources = rooms.flatMap((room) => {
      const folder = new URL(`../../src/${room}/`, import.meta.url).pathname;
      return [...new Bun.Glob("**/*.ts").scanSync(folder)].map((file) => readFileSync(folder + file, "utf8"));
    });
    const events = sources.flatMap((source) =>
      [...source.matchAll(/(?<!log\.\w+\(\{ )\bevent: "([a-z.]+\.[a-z]+)"/g)].map(([, event]) => event ?? ""),
    );
    expect(events.length).toBeGreaterThan(15);
    expect(events.filter((event) => !text.includes(`\`${event}\``))).toEqual([]);
  });
});
