import { expect, test } from "bun:test";
import { readConfig } from "../../../src/config.ts";
import { unreadVariables } from "../../../src/process/environment/known-variables.ts";

const unread = (environment: Record<string, string>) => unreadVariables(environment, ["ANTHROPIC_API_KEY"]);
const warning = (name: string, meant: string) => [`${name} is set, and nothing reads it: did you mean ${meant}?`];

test.each([
  ["ANTROPIC_API_KEY", "ANTHROPIC_API_KEY"],
  ["ANTHROPIC_API_KEY_FIL", "ANTHROPIC_API_KEY_FILE"],
  ["PROT", "PORT"],
  ["DATA_DIRS", "DATA_DIR"],
  ["DATABASE_URI", "DATABASE_URL"],
  ["smtp_url", "SMTP_URL"],
  ["WEIR_PORT", "PORT"],
  ["WEIR_TOKN", "WEIR_TOKEN"],
])("a start warns of %s, which is one typing error away from %s", (name, meant) => {
  expect(unread({ [name]: "1" })).toEqual(warning(name, meant));
});

test("a start warns of other names that begin with WEIR_, and not of those that Kubernetes or documents set", () => {
  expect(unread({ WEIR_COLOUR: "red" })).toEqual(["WEIR_COLOUR is set, and nothing reads it"]);
  expect(
    unread({ WEIR_KEY: "key", WEIR_PORT: "tcp://10.0.0.1:8080", WEIR_SERVICE_PORT: "8080", WEIR_PORT_8080_TCP_PORT: "1" }),
  ).toEqual([]);
});

test("a start does not warn of names that are read, of empty ones, of others, or beside the name that was meant", () => {
  expect(unread({ PORT: "1", PATH: "/bin", HOSTNAME: "here", PORTS: "1", DATA_DIRS: "", ANTHROPIC_API_KEY: "key" })).toEqual([]);
});

test("a start refuses a CATALOG_DIR that is set and absent", () => {
  const words = 'CATALOG_DIR is "/nowhere/catalog", where there is no folder: one like catalog-data is needed';
  expect(() => readConfig({ CATALOG_DIR: "/nowhere/catalog" })).toThrow(words);
});
