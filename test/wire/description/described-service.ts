/** The service whose answers are compared with its OpenAPI document, started once for the tests of a file. */
import { expect } from "bun:test";
import { DocumentedApi } from "../../support/documented-api.ts";
import type { Customer } from "../../support/operator.ts";
import { stage, type Stage } from "../stage.ts";

export interface DescribedService {
  on: Stage;
  api: DocumentedApi;
  customer: Customer;
  /** Of the customer. */
  key: string;
}

let started: Promise<DescribedService> | null = null;

export function describedService(): Promise<DescribedService> {
  started ??= start();
  return started;
}

async function start(): Promise<DescribedService> {
  const on = await stage("embedded");
  const api = await DocumentedApi.of({ operator: on.fleet.operator(), url: on.fleet.url() });
  const customer = await on.fleet.operator().customer({ credit: "5" });
  await on.fleet.operator().call("PATCH", `/workspaces/${customer.workspace}`, { prompt_storage: true });
  return { on, api, customer, key: customer.keys[0]?.key ?? "" };
}

/** @param isOfFile whether the file's tests have to call a path @param except operations that need what the tests lack */
export function expectAllCalled(api: DocumentedApi, isOfFile: (path: string) => boolean, except: string[] = []): void {
  const own = api.operations().filter((operation) => isOfFile(operation.slice(operation.indexOf(" ") + 1)));
  expect(own.length).toBeGreaterThan(0);
  expect(own.filter((operation) => !api.answered.has(operation))).toEqual(except);
}
