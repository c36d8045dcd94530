/**
 * The verbs that no endpoint describes: those for the catalog's files and the database, and the synchronization of advisories, which
 * downloads and makes many calls. Their code is loaded when they run.
 */
import { osvArchives } from "../../src/config.ts";
import { exploitSources } from "../../src/security/advisories/sync-store.ts";
import { ecosystems } from "../../src/security/versions/ecosystem.ts";
import { list, number, oneOf, text, yes } from "./value.ts";
import type { Verb } from "./verb.ts";

export const localVerbs: readonly Verb[] = [
  {
    noun: "model",
    verb: "import",
    summary: "Print how an api.json of models.dev differs from the files of CATALOG_DIR; --write changes the files",
    operand: { field: "source", placeholder: "FILE", help: "a copy of https://models.dev/api.json" },
    flags: [
      { name: "provider", field: "provider", value: text, help: "only this provider of providers.json" },
      {
        name: "changes",
        field: "changes",
        value: oneOf("added", "price_changed", "gone"),
        help: "only these changes; default: all",
      },
      {
        name: "write",
        field: "write",
        value: yes,
        help: "change the files, unless a check of them would fail; terms stay as they are",
      },
    ],
    local: async (fields, files) => (await import("./verbs/model.ts")).importModels(fields, files),
  },
  {
    noun: "migrate",
    verb: "",
    summary: "Bring the database of DATABASE_URL to this version's schema; no process of Weir needs to run",
    flags: [],
    local: async () => (await import("./verbs/service.ts")).migrateSchema(),
  },
  {
    noun: "advisories",
    verb: "sync",
    summary:
      "Take over what OSV publishes of ecosystems, EPSS scores and CISA's catalog: downloads what changed, continues what was interrupted",
    flags: [
      {
        name: "ecosystems",
        field: "ecosystems",
        value: list,
        help: `some of ${[...ecosystems, ...exploitSources].join(", ")}, with commas between; default: all`,
      },
      {
        name: "from",
        field: "from",
        value: { ...text, placeholder: "URL" },
        help: `a mirror with <ecosystem>/all.zip and the files of EPSS and CISA; default ${osvArchives}, and where those are published`,
      },
      {
        name: "folder",
        field: "folder",
        value: { ...text, placeholder: "FOLDER" },
        help: "keeps interrupted downloads; default: weir/advisories in the user's cache folder",
      },
    ],
    method: "POST",
    path: "/advisories",
    notes: "/advisories/syncs",
    send: async (fields, sending) => (await import("./sync-advisories.ts")).syncAdvisories(fields, sending),
  },
  {
    noun: "catalog",
    verb: "check",
    summary: "Check the files of models, providers and connectors in CATALOG_DIR and count them; exit code 1 when one is invalid",
    flags: [],
    local: async (_fields, files) => (await import("./verbs/catalog.ts")).checkCatalog(files),
  },
  {
    noun: "catalog",
    verb: "export",
    summary: "Print all connectors of CATALOG_DIR as one document",
    flags: [
      { name: "format", field: "format", value: oneOf("ndjson", "csv", "json"), help: "default json; always json with --json" },
    ],
    local: async (fields, files) => (await import("./verbs/catalog.ts")).printCatalog(fields, files),
  },
  {
    noun: "catalog",
    verb: "search",
    summary: "Find connectors of CATALOG_DIR by name, former name, abbreviation, vendor or category, the best match first",
    operand: { field: "q", placeholder: "WORDS", help: "such as aws or 'azure ad'" },
    flags: [{ name: "limit", field: "limit", value: number, help: "how many to show; default 20" }],
    local: async (fields, files) => (await import("./verbs/catalog.ts")).searchCatalog(fields, files),
  },
  {
    noun: "catalog",
    verb: "fmt",
    summary: "Write the files of connectors in CATALOG_DIR in the order and layout that catalog check asks for; facts stay",
    flags: [],
    local: async (_fields, files) => (await import("./verbs/catalog.ts")).formatCatalog(files),
  },
];
