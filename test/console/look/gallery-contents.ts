/** What the gallery's pages show: ordinary and hostile text. */
import { markup } from "../../../src/http/html.ts";
import { badge, money, time, type Column } from "../../../src/console/look/parts.ts";
import { meter } from "../../../src/console/look/charts.ts";
import { actionButton, type Field } from "../../../src/console/look/forms.ts";
import type { Surroundings } from "../../../src/console/look/frame.ts";

export const hostile = [
  "<script>document.title='harmed'</script>",
  `"><img src=https://harm.example/x onerror="document.title='harmed'">`,
  "x".repeat(200),
  "مفتاح الإنتاج (قديم) 12",
  "Réseau de production — très long nom avec beaucoup de mots, afin de voir comment une ligne se coupe quand elle n'a pas la place",
];

export interface Key {
  name: string;
  owner: string;
  masked: string;
  spent: bigint;
  limit: bigint | null;
  used: string | null;
}

export const usd = (cents: number): bigint => BigInt(cents) * 10_000_000n;

export const keys: Key[] = [
  {
    name: "Production",
    owner: "mira@example.org",
    masked: "sk-weir-4f9a20c1…9d2e",
    spent: usd(31_240),
    limit: usd(50_000),
    used: "2026-11-26T09:41:07Z",
  },
  {
    name: "Nightly evaluation",
    owner: "tomas@example.org",
    masked: "sk-weir-b83d11f0…02aa",
    spent: usd(9_120),
    limit: usd(10_000),
    used: "2026-11-26T03:00:12Z",
  },
  {
    name: "Support assistant",
    owner: "mira@example.org",
    masked: "sk-weir-77c0e4b2…51f8",
    spent: usd(2_500),
    limit: usd(2_500),
    used: "2026-11-25T17:20:44Z",
  },
  { name: "Untitled key", owner: "lin@example.org", masked: "sk-weir-0aa1b2c3…77de", spent: 12_300n, limit: null, used: null },
];

export const columns: Column<Key>[] = [
  { label: "Name", kind: "text", cell: ({ name }) => name },
  { label: "Key", kind: "text", cell: ({ masked }) => markup`<code>${masked}</code>` },
  { label: "Owner", kind: "text", cell: ({ owner }) => owner },
  { label: "State", kind: "badge", cell: ({ used }) => (used === null ? badge("neutral", "Unused") : badge("good", "Active")) },
  {
    label: "Spent this month",
    kind: "money",
    cell: ({ spent, limit }) => meter({ used: spent, of: limit, words: markup`${money(spent)} of ${money(limit)}` }),
  },
  { label: "Last used", kind: "time", cell: ({ used }) => time(used) },
  {
    label: "Actions",
    kind: "actions",
    cell: ({ name }) =>
      markup`${actionButton({ action: "/edit", label: "Edit", what: name })}${actionButton({ action: "/revoke", label: "Revoke", what: name })}`,
  },
];

export const days = Array.from({ length: 26 }, (_, index) => `2026-11-${String(index + 1).padStart(2, "0")}`);
export const wave = (size: number, shift: number): bigint[] =>
  days.map((_, index) => usd(Math.round(size * (1.2 + Math.sin(index / 2.3 + shift)) * (index % 7 > 4 ? 0.35 : 1))));

export const fields: Field[] = [
  {
    kind: "text",
    name: "name",
    label: "Name",
    hint: "What the key is for. Everybody in the workspace sees it.",
    charactersMax: 200,
  },
  {
    kind: "money",
    name: "limit",
    label: "Monthly spend limit in USD",
    hint: "Requests that could pass it are refused. A month begins at 00:00 UTC.",
  },
  { kind: "whole", name: "rpm", label: "Requests a minute", required: true },
  {
    kind: "choice",
    name: "kind",
    label: "Opens",
    required: true,
    choices: [
      { value: "inference", label: "The inference API" },
      { value: "tools", label: "The tools API" },
    ],
  },
  {
    kind: "radios",
    name: "reason",
    label: "Why it does not apply",
    required: true,
    choices: [
      { value: "unreachable", label: "The code is not reached", hint: "Say how you know it" },
      { value: "accepted", label: "The risk is accepted" },
    ],
  },
  { kind: "lines", name: "note", label: "Note", rows: 3 },
  { kind: "check", name: "stored", label: "Store prompts and answers" },
  { kind: "password", name: "password", label: "Your password", required: true, autocomplete: "current-password" },
  { kind: "file", name: "sbom", label: "SBOM", accept: ".json" },
];

export const samples = [
  {
    language: "curl",
    code: 'curl -N https://weir.example/gpt/v1/chat/completions \\\n  -H "Authorization: Bearer $WEIR_KEY" -H "Content-Type: application/json" \\\n  -d \'{"model":"sandbox/echo","stream":true,"messages":[{"role":"user","content":"Hello, weir"}]}\'',
  },
  { language: "Python", code: 'from openai import OpenAI\n\nclient = OpenAI(base_url="https://weir.example/gpt/v1")' },
  {
    language: "JavaScript",
    code: 'import OpenAI from "openai";\nconst client = new OpenAI({ baseURL: "https://weir.example/gpt/v1" });',
  },
];

export const around: Surroundings = {
  homePath: "/console",
  findPath: "/find",
  sections: [
    { title: null, links: [{ path: "/", label: "Home", icon: "home", current: false }] },
    {
      title: "Inference",
      links: [
        { path: "/keys", label: "Keys", icon: "key", current: true },
        { path: "/models", label: "Models", icon: "models", current: false },
        { path: "/workbench", label: "Workbench", icon: "workbench", current: false },
        { path: "/requests", label: "Requests", icon: "requests", current: false },
        { path: "/spend", label: "Spend", icon: "spend", current: false },
        { path: "/provider-keys", label: "Provider keys", icon: "provider", current: false },
      ],
    },
    {
      title: "Security",
      links: [
        { path: "/projects", label: "Projects", icon: "projects", current: false },
        { path: "/findings", label: "Findings", icon: "findings", current: false },
        { path: "/tickets", label: "Tickets", icon: "tickets", current: false },
        { path: "/connections", label: "Connections", icon: "connections", current: false },
      ],
    },
    {
      title: "Workspace",
      links: [
        { path: "/members", label: "Members", icon: "members", current: false },
        { path: "/settings", label: "Settings", icon: "settings", current: false },
        { path: "/audit", label: "Audit", icon: "audit", current: false },
        { path: "/operator", label: "Operator", icon: "operator", current: false },
      ],
    },
  ],
  place: "Acme research",
  switcher: {
    action: "/switch",
    current: { id: "w1", name: "Acme research" },
    choices: [
      { id: "w1", name: "Acme research" },
      { id: "w2", name: "Acme support" },
    ],
  },
  account: { name: "mira@example.org", role: "Super admin", path: "/account", theme: "system", signOutPath: "/sign-out" },
};
