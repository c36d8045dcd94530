/** What watches Weir knows its metrics and alarms: the page that explains them, the alert rules and the dashboard. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { load } from "js-yaml";
import { alarms, gauges, registry } from "../src/kernel/metrics.ts";

interface Declared {
  type: string;
  labels: string[];
}

/** Every metric of Weir by its name, as the code declares it. */
const declared = new Map<string, Declared>([
  ...registry.getMetricsAsArray().flatMap((metric) => (metric.name.startsWith("weir_") ? [declaredBy(metric)] : [])),
  ...Object.entries(gauges).map(([name, { label }]: [string, { help: string; label?: string }]): [string, Declared] => [
    name,
    { type: "gauge", labels: label === undefined ? [] : [label] },
  ]),
]);

/** The library's types do not show a metric's labels. */
function declaredBy(metric: object): [string, Declared] {
  const { name, labelNames, constructor } = metric as { name: string; labelNames: string[]; constructor: { name: string } };
  return [name, { type: constructor.name.toLowerCase().replace("tallied", ""), labels: labelNames }];
}

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

function rowsOf(text: string): string[][] {
  const rows = text.split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const words = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);

describe("docs/reference/metrics.md", () => {
  const page = read("docs/reference/metrics.md");
  const [metricsPart = "", alarmsPart = ""] = page.split("\n## Alarms\n");
  const metrics = rowsOf(metricsPart).filter((cells) => cells.length === 3);
  const labels = [...metricsPart.matchAll(/^- `(\w+)`: \S/gm)].map(([, name = ""]) => name);
  const alarmRows = rowsOf(alarmsPart).filter((cells) => cells.length === 3);

  test("the page has each metric once with its type and labels, and no other", () => {
    const written = metrics.map(([name, kind = ""]) => [words(name)[0], kind.split(":")[0] ?? "", ...words(kind)]);
    const inCode = [...declared].map(([name, { type, labels: labelNames }]) => [name, type, ...labelNames]);
    expect(written.toSorted()).toEqual(inCode.toSorted());
    expect(metrics.every(([, , meaning = ""]) => meaning !== "")).toBe(true);
  });

  test("the page has the values of each label, and of no other", () => {
    const used = new Set([...declared.values()].flatMap((metric) => metric.labels));
    expect(labels.toSorted()).toEqual([...used].toSorted());
  });

  test("the page says of each alarm what happened and what to do, and of no other", () => {
    expect(alarmRows.map(([name]) => words(name)[0] ?? "").toSorted()).toEqual([...alarms].toSorted());
    expect(alarmRows.every((cells) => cells.every((cell) => cell !== ""))).toBe(true);
  });
});

interface Rule {
  alert?: string;
  record?: string;
  expr: string;
}

const { groups } = load(read("deploy/prometheus/weir-alerts.yaml")) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** Names in an expression that can only be metrics, without the suffix of a histogram's series. */
function metricsIn(expression: string): string[] {
  const names = expression.match(/\b(?:weir|process|nodejs)[_:][a-z0-9_:]+/g) ?? [];
  return names.map((name) => (isHistogram(seriesOf(name)) ? seriesOf(name) : name));
}

const seriesOf = (name: string): string => name.replace(/_(bucket|sum|count)$/, "");
const isHistogram = (name: string): boolean => declared.get(name)?.type === "histogram";
const recorded = rules.flatMap(({ record }) => record ?? []);
const ofTheRuntime = registry.getMetricsAsArray().map(({ name }) => name);
const known = new Set([...declared.keys(), ...recorded, ...ofTheRuntime]);

describe("deploy/prometheus/weir-alerts.yaml", () => {
  test("each metric that a rule names exists", () => {
    expect(rules.length).toBeGreaterThan(20);
    expect(rules.flatMap(({ expr }) => metricsIn(expr).filter((name) => !known.has(name)))).toEqual([]);
  });

  test("each alarm is in one alert, and each alarm that an alert names exists", () => {
    const named = rules.map(
      ({ expr }) => new Set([...expr.matchAll(/alarm=~?"([^"]+)"/g)].flatMap(([, list = ""]) => list.split("|"))),
    );
    expect(named.flatMap((set) => [...set]).toSorted()).toEqual([...alarms].toSorted());
  });
});

describe("deploy/grafana/weir-dashboard.json", () => {
  const text = read("deploy/grafana/weir-dashboard.json");
  const { panels } = JSON.parse(text) as { panels: { id: number; type: string; targets?: { expr: string }[] }[] };
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  test("each metric that the dashboard names exists, and it shows every metric of Weir", () => {
    const shown = expressions.flatMap(metricsIn);
    expect(shown.filter((name) => !known.has(name))).toEqual([]);
    expect([...declared.keys()].filter((name) => !shown.includes(name))).toEqual([]);
  });

  test("the panels have an id each", () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});
