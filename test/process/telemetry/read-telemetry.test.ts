/** The variables of OpenTelemetry that Weir reads, and the errors that name them. */
import { expect, test } from "bun:test";
import { inspect } from "node:util";
import { readConfig } from "../../../src/config.ts";
import { importsOf, readSourceTree } from "../../architecture/source-tree.ts";
import { readTraceparent } from "../../../src/process/telemetry/span-sink.ts";

const OTEL_EXPORTER_OTLP_ENDPOINT = "https://collector.example.com:4318/";

test("telemetry is off without an endpoint, and its headers are not shown", () => {
  expect(readConfig({ OTEL_SERVICE_NAME: "weir-eu" }).telemetry).toBeNull();
  const config = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%3Db, x-team=one" });
  expect(config.telemetry).toMatchObject({ endpoint: "https://collector.example.com:4318", share: 1, service: "weir" });
  const headers = Object.entries(config.telemetry?.headers ?? {}).map(([name, secret]) => [name, secret.reveal()]);
  expect(headers).toEqual([
    ["api-key", "a=b"],
    ["x-team", "one"],
  ]);
  expect(inspect(config, { depth: 9 })).not.toContain("a=b");
});

test("a collector is reached without TLS on this machine and on hosts that the operator named", () => {
  const endpoints = ["http://127.0.0.1:4318", "http://localhost:4318", "http://[::1]:4318", "http://collector:4318"];
  for (const endpoint of endpoints) {
    const { telemetry } = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, PLAINTEXT_HOSTS: "db,Collector" });
    expect(telemetry?.endpoint).toBe(endpoint);
  }
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" }, "OTEL_EXPORTER_OTLP_ENDPOINT"],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "https://user:hush@collector" }, "OTEL_EXPORTER_OTLP_ENDPOINT"],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" }, "OTEL_EXPORTER_OTLP_ENDPOINT"],
  [{ OTEL_EXPORTER_OTLP_HEADERS: "hush" }, "OTEL_EXPORTER_OTLP_HEADERS"],
  [{ OTEL_EXPORTER_OTLP_HEADERS: "a=hush%" }, "OTEL_EXPORTER_OTLP_HEADERS"],
  [{ OTEL_TRACES_SAMPLER_ARG: "1.5" }, "OTEL_TRACES_SAMPLER_ARG"],
  [{ OTEL_TRACES_SAMPLER_ARG: "half" }, "OTEL_TRACES_SAMPLER_ARG"],
  [{ OTEL_TRACES_EXPORTER: "zipkin" }, "OTEL_TRACES_EXPORTER"],
  [{ OTEL_METRIC_EXPORT_INTERVAL: "10" }, "OTEL_METRIC_EXPORT_INTERVAL"],
])("%p is refused by its name, without its value where that is a secret", (environment, name) => {
  const read = (): unknown => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, ...environment });
  expect(read).toThrow(name);
  expect(read).not.toThrow("hush");
});

test.each([
  ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true],
  ["01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-more", true],
  ["ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false],
  ["00-00000000000000000000000000000000-00f067aa0ba902b7-01", false],
  ["00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false],
  ["00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false],
  ["hello", false],
  [null, false],
])("traceparent %p is a caller's trace: %p", (header, isValid) => {
  expect(readTraceparent(header) !== null).toBe(isValid);
});

test("OpenTelemetry's packages are loaded only where telemetry is switched on", () => {
  const root = new URL("../../../", import.meta.url).pathname;
  const { files } = readSourceTree(root);
  const loading = [...files]
    .filter(([path]) => /^(src|workers)\//.test(path))
    .flatMap(([path, text]) => importsOf(path, text))
    .filter(({ to, typeOnly }) => !typeOnly && /^@opentelemetry\/|\/open-telemetry\.ts$/.test(to))
    .map(({ from }) => from);
  const starter = "src/process/telemetry/start-telemetry.ts";
  expect(loading.filter((from) => !from.startsWith("src/process/telemetry/"))).toEqual([]);
  expect(files.get(starter)).toContain('await import("./open-telemetry.ts")');
  const sink = "src/process/telemetry/span-sink.ts";
  const importers = [...files]
    .filter(([path]) => /^(src|workers)\//.test(path))
    .flatMap(([path, text]) => importsOf(path, text).filter(({ to }) => to === sink));
  expect(importers.every(({ from }) => from.startsWith("src/process/telemetry/"))).toBe(true);
});
