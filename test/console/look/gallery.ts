/** One page with every component, filled with ordinary and with hostile text. */
import { markup, type Html } from "../../../src/http/html.ts";
import {
  badge,
  codeSamples,
  copyField,
  closeButton,
  dialog,
  opener,
  facts,
  emptyState,
  errorState,
  forbiddenState,
  tabs,
  tiles,
  cursorLinks,
  table,
  day,
  money,
  roundedUsd,
  shortDay,
} from "../../../src/console/look/parts.ts";
import { chart, chartScript, meter, sparkline } from "../../../src/console/look/charts.ts";
import { arrangedList } from "../../../src/console/look/list-view.ts";
import { idToCopy, limitMeters, thingPage } from "../../../src/console/look/thing.ts";
import { filterForm, confirmForm, emptyForm, form } from "../../../src/console/look/forms.ts";
import { consolePage } from "../../../src/console/look/frame.ts";
import { monogram } from "../../../src/http/monogram.ts";
import { around, columns, days, fields, hostile, keys, samples, usd, wave, type Key } from "./gallery-contents.ts";

/** The last days of the chart have not begun. */
const begun = days.length - 3;

/** An ordinary page of keys. */
export function keysPage(): string {
  const total = keys.reduce((sum, { spent }) => sum + spent, 0n);
  const named = columns.map((column, index) => ({ ...column, name: `column-${index}`, by: ({ name }: Key) => name }));
  const list = { caption: "Active keys", columns: named, rows: keys, empty: markup``, isWhole: true, order: "by name" };
  const { table, view } = arrangedList(list, { path: "/keys", query: new URLSearchParams() });
  return consolePage(
    {
      title: "Keys",
      scripts: [chartScript],
      lead: "Each key spends the credit of this workspace, up to its own limit.",
      actions: markup`${view}${opener({ dialog: "create", path: "/keys/new", label: "Create key" })}`,
      notice: { tone: "good", words: "The key “Nightly evaluation” is changed. Gateways follow within 30 seconds." },
      main: markup`${tiles([
        { label: "Credit left", value: money(usd(41_873)), note: markup`${money(usd(120))} reserved by requests that run` },
        {
          label: "Spent this month",
          value: money(total),
          drawing: sparkline([3, 5, 4, 8, 7, 9, 12, 11, 14, 10, 15], "From 3 to 15 USD a day"),
          path: "/spend",
        },
        { label: "Requests today", value: "18,204", note: "0.3 % failed" },
        { label: "First token, p50 and p95", value: "412 ms", note: "p95 1,310 ms" },
      ])}
      ${chart({
        id: "spend",
        title: "Spend by day and key",
        shape: "bars",
        periodName: "Day (UTC)",
        periods: days.map((date, index) => ({
          name: day(date),
          short: shortDay(date),
          path: index % 5 === 4 ? null : `/requests?from=${date}`,
          isFuture: index >= begun,
        })),
        series: [
          { label: "Production", values: wave(1_200, 0).slice(0, begun) },
          { label: "Nightly evaluation", values: wave(420, 1).slice(0, begun) },
          { label: "Support assistant", values: wave(160, 2).slice(0, begun) },
        ],
        before: { label: "Before", values: wave(1_500, 2) },
        limit: { value: usd(4_000), label: "Limit $40.00 a day" },
        forecast: days.map((_, index) => (index >= begun ? usd(1_600) : null)),
        notes: ["Forecast for the end of the month: $420.00."],
        words: roundedUsd,
        exact: money,
        empty: markup``,
      })}
      ${chart({
        id: "times",
        title: "Time to the first token by day",
        shape: "lines",
        periodName: "Day (UTC)",
        periods: days.map((date) => ({ name: day(date), short: shortDay(date), path: null })),
        series: [
          { label: "p50", values: days.map((_, index) => (index % 7 === 3 ? null : BigInt(300 + index * 9))), total: 412n },
          { label: "p95", values: days.map((_, index) => (index % 7 === 3 ? null : BigInt(900 + index * 31))), total: 1_310n },
        ],
        before: { label: "p50 before", values: days.map((_, index) => BigInt(420 - index)), total: 400n },
        words: (value) => `${value} ms`,
        kind: "number",
        empty: markup``,
      })}
      ${tabs("Keys", [
        { path: "/keys", label: "Active", count: 4, current: true },
        { path: "/keys?revoked=true", label: "Revoked", count: 2, current: false },
      ])}
      ${filterForm({
        path: "/keys",
        kept: { tab: "active" },
        filters: [
          { name: "q", label: "Name", kind: "text", value: "" },
          {
            name: "owner",
            label: "Owner",
            kind: "choice",
            value: "mira@example.org",
            choices: [
              { value: "", label: "Everybody" },
              { value: "mira@example.org", label: "mira@example.org" },
            ],
          },
          { name: "since", label: "Created since", kind: "date", value: "2026-11-01" },
        ],
      })}
      ${table}
      ${cursorLinks({ shown: "50 keys", firstPath: "/keys", nextPath: "/keys?after=k50" })}
      ${createDialog()}`,
    },
    around,
  );
}

function createDialog(): Html {
  return dialog({
    id: "create",
    title: "Create a key",
    asks: "changes",
    body: form({
      id: "create-form",
      action: "/keys",
      fields: fields.slice(0, 3),
      state: emptyForm,
      submit: "Create key",
      cancelPath: "/keys",
    }),
  });
}

/** The dialog that shows a new key. */
export function keyDialog(): Html {
  return dialog({
    id: "created",
    title: "Store this key now",
    asks: "always",
    opensAtOnce: true,
    thenPath: "/keys",
    body: markup`<p>It is shown only this once. Weir keeps a digest of it, from which nobody can read it.</p>
      ${copyField({ id: "new-key", label: "Key", value: "sk-weir-4f9a20c15d7e88b3aa10ff02c4de9d2e" })}
      ${codeSamples({ id: "use-key", legend: "Use it", samples })}${closeButton("I have stored it")}`,
  });
}

/** Everything else, with text that was written to harm. */
export function galleryPage(): string {
  const harmed: Key[] = hostile.map((words) => ({
    name: words,
    owner: words,
    masked: "sk-…",
    spent: 1n,
    limit: 3n,
    used: "2026-11-26T23:59:59Z",
  }));
  const state = {
    values: Object.fromEntries(fields.map(({ name }, index) => [name, hostile[index % hostile.length] ?? ""])),
    problem: { field: "limit", message: `The limit ${hostile[1]} is no amount` },
  };
  return consolePage(
    {
      title: hostile[0] ?? "",
      trail: [
        { path: "/keys", label: "Keys" },
        { path: "/keys/1", label: hostile[3] ?? "" },
      ],
      badge: badge("warn", "Near its limit"),
      lead: hostile[4] ?? "",
      actions: markup`${opener({ dialog: "create", path: "/keys/new", label: "Create key", quiet: true })}`,
      notice: { tone: "bad", words: hostile[1] ?? "" },
      main: markup`<p>${badge("good", "Active")} ${badge("warn", "Slow")} ${badge("bad", "Revoked")} ${badge("neutral", "Off")} ${monogram("Google Cloud")}${monogram("okta")}${monogram(hostile[0] ?? "")}${monogram("مفتاح")}</p>
        ${facts([
          ["Name", hostile[2] ?? ""],
          ["Owner", hostile[3] ?? ""],
          ["Cost", money("0.000000123")],
          ["Revoked", null],
        ])}
        ${thingPage({
          facts: [
            ["Name", hostile[2] ?? ""],
            ["Id", idToCopy({ id: "thing-id", value: `key-${"a".repeat(26)}`, what: "the id" })],
          ],
          note: markup`<p class="hint">A hint below the facts.</p>`,
          main: markup`${limitMeters([
            ["Spent this month", meter({ used: 9n, of: 10n, words: hostile[4] ?? "" })],
            ["Spent today", null],
          ])}<p>What it did.</p>`,
        })}
        ${table({ caption: "Keys with hostile names", captioned: true, columns, rows: harmed, empty: markup``, totals: ["Sum", null, null, null, money(5n), null, null] })}
        ${chart({ id: "many", title: `Requests by day and ${hostile[1]}`, shape: "bars", periodName: "Day (UTC)", periods: days.slice(0, 3).map((name) => ({ name, short: name, path: "/requests" })), series: Array.from({ length: 9 }, (_, index) => ({ label: hostile[index] ?? `model ${index}`, values: [BigInt(index), 5n, 7n] })), words: String, empty: markup``, tableOpen: true })}
        <h2>A form that was refused</h2>
        ${form({ id: "edit", action: "/keys/1", hidden: { version: hostile[1] ?? "" }, fields, state, submit: "Save", cancelPath: "/keys", files: true })}
        <h2>States</h2>
        ${emptyState("There is no key yet.", opener({ dialog: "create", path: "/keys/new", label: "Create the first key" }))}
        ${errorState({ message: "The log cannot be read at the moment", requestId: "req-01HZX", retryPath: "/keys" })}
        ${forbiddenState({ needed: "admin", role: "member", admins: ["mira@example.org", hostile[2] ?? ""] })}
        <h2>Revoke</h2>
        ${confirmForm({ id: "revoke", action: "/revoke", hidden: {}, warning: `The key ${hostile[1]} stops within 30 seconds, and cannot be brought back.`, submit: "Revoke key", cancelPath: "/keys" })}
        ${createDialog()}`,
    },
    {
      ...around,
      place: hostile[2] ?? "",
      switcher: { ...around.switcher, choices: [], current: { id: "w1", name: hostile[2] ?? "" } },
      account: { ...around.account, name: hostile[2] ?? "" },
    },
  );
}

/** What follows the creation of a key. */
export function createdPage(): string {
  return consolePage({ title: "Key created", main: keyDialog() }, around);
}
