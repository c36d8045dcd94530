/**
 * The sample data: a few projects with small SBOMs, so that a new workspace has something to look at before its first upload.
 *
 * Their packages and versions are real, and they are stored and scanned like any upload. So their findings come from the advisories that
 * the service has, and there are none before it has any: nothing is invented here, because all workspaces share the advisories. Each SBOM
 * is an excerpt, not all of what such an application depends on. The projects are marked, and removing the sample data removes only those,
 * with their findings and the decisions on them.
 */
import { Type, type Static } from "@sinclair/typebox";
import { type Actor, authorize, writers } from "../../accounts/audit/actor.ts";
import { change, type AuditEvent, type Sources } from "../../accounts/audit/change.ts";
import { clearScopes } from "../../accounts/keys/store.ts";
import { countAct } from "../../accounts/quotas/hourly-acts.ts";
import type { Queries } from "../../backing/backing.ts";
import { text } from "../../http/json-schema.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { sampleLoadsPerHourMax } from "../limits.ts";
import type { SbomRows } from "../sboms/sbom-rows.ts";
import { storeTogether, type SbomStoreParts } from "./store-sbom.ts";
import { deleteProjects, lockSample, selectSample } from "./store.ts";

const projects = (description: string) =>
  Type.Array(Type.Object({ id: text("The project's id"), name: text("Its name") }), { description });

export const SampleView = Type.Object({
  projects: projects("The projects of the sample data, by name; empty: it is not loaded"),
  own_projects: Type.Boolean({ description: "Whether the workspace has other projects" }),
});
export type SampleView = Static<typeof SampleView>;

export const LoadedSample = Type.Object({
  changed: Type.Boolean({ description: "false: it was loaded already" }),
  projects: projects("The projects of the sample data, by name"),
});
export type LoadedSample = Static<typeof LoadedSample>;

export const RemovedSample = Type.Object({ removed: projects("The projects that were removed; empty: it was not loaded") });
export type RemovedSample = Static<typeof RemovedSample>;

export async function viewSample(workspace: WorkspaceId, sql: Queries): Promise<SampleView> {
  const { sample, hasOthers } = await selectSample(workspace, sql);
  return { projects: sample, own_projects: hasOthers };
}

/** A document as an upload has it. */
export interface SampleDocument {
  project: string;
  filename: string;
  bytes: Uint8Array;
}

/** The same bytes at each call, so that loading them again changes nothing. */
export function sampleDocuments(): SampleDocument[] {
  return samples.map((sample) => ({
    project: sample.project,
    filename: `${sample.project}.cdx.json`,
    bytes: new TextEncoder().encode(JSON.stringify(documentOf(sample))),
  }));
}

interface SampleToLoad {
  actor: Actor;
  workspace: WorkspaceId;
  documents: readonly (Pick<SampleDocument, "project" | "filename"> & { sbom: SbomRows })[];
}

/**
 * @throws DomainError forbidden for auditors; conflict if the workspace has a project of its own with one of the names
 * @throws LimitReachedError if it was loaded too often within the hour
 */
export async function loadSample({ actor, workspace, documents }: SampleToLoad, parts: SbomStoreParts): Promise<LoadedSample> {
  authorize(actor, { roles: writers, action: "load the sample data" });
  await countAct({ workspace, act: "loads of the sample data", max: sampleLoadsPerHourMax }, parts);
  const origin = { provider: "sample", repository: null } as const;
  const requests = documents.map((document) => ({ ...document, actor, workspace, product: null, origin }));
  const stored = await storeTogether({ actor, workspace }, { requests, parts, lock: (tx) => lockSample(workspace, tx) });
  return { changed: stored.some((one) => one.changed), projects: (await selectSample(workspace, parts.sql)).sample };
}

/** A scan of such a project that is under way ends at its next step. @throws DomainError forbidden for auditors */
export async function removeSample(
  { actor, workspace }: { actor: Actor; workspace: WorkspaceId },
  sources: Sources,
): Promise<RemovedSample> {
  authorize(actor, { roles: writers, action: "remove the sample data" });
  return change(actor, sources, async (tx) => {
    const removed = await lockSample(workspace, tx);
    const ids = removed.map(({ id }) => id);
    await clearScopes({ workspace, projects: ids }, tx);
    await deleteProjects(ids, tx);
    const event = removed.map(({ id, name }): AuditEvent => ({
      event: "project.removed",
      workspace,
      target: id,
      changes: { name: { from: name, to: null } },
    }));
    return { result: { removed }, event };
  });
}

// The SBOMs, as CycloneDX.

interface Sample {
  project: string;
  /** The beginning of its packages' URLs. */
  type: string;
  /** What it depends on directly. */
  direct: readonly string[];
  /** Its packages with their licence and what they depend on. */
  packages: Readonly<Record<string, readonly [license: string, ...needs: string[]]>>;
}

const samples: readonly Sample[] = [
  {
    project: "sample-web-shop",
    type: "pkg:npm/",
    direct: ["express@4.17.1", "jsonwebtoken@8.5.1", "axios@0.21.1", "ejs@3.1.5", "lodash@4.17.20", "mkdirp@0.5.5"],
    packages: {
      "express@4.17.1": [
        "MIT",
        "body-parser@1.19.0",
        "cookie@0.4.0",
        "debug@2.6.9",
        "path-to-regexp@0.1.7",
        "qs@6.7.0",
        "send@0.17.1",
      ],
      "body-parser@1.19.0": ["MIT", "debug@2.6.9", "qs@6.7.0"],
      "cookie@0.4.0": ["MIT"],
      "debug@2.6.9": ["MIT", "ms@2.0.0"],
      "ms@2.0.0": ["MIT"],
      "path-to-regexp@0.1.7": ["MIT"],
      "qs@6.7.0": ["BSD-3-Clause"],
      "send@0.17.1": ["MIT", "debug@2.6.9"],
      "jsonwebtoken@8.5.1": ["MIT", "jws@3.2.2", "semver@5.7.1"],
      "jws@3.2.2": ["MIT", "jwa@1.4.1"],
      "jwa@1.4.1": ["MIT"],
      "semver@5.7.1": ["ISC"],
      "axios@0.21.1": ["MIT", "follow-redirects@1.14.0"],
      "follow-redirects@1.14.0": ["MIT"],
      "ejs@3.1.5": ["Apache-2.0", "jake@10.8.2"],
      "jake@10.8.2": ["Apache-2.0", "minimatch@3.0.4"],
      "minimatch@3.0.4": ["ISC"],
      "lodash@4.17.20": ["MIT"],
      "mkdirp@0.5.5": ["MIT", "minimist@1.2.5"],
      "minimist@1.2.5": ["MIT"],
    },
  },
  {
    project: "sample-forecasts",
    type: "pkg:pypi/",
    direct: ["django@3.2", "requests@2.25.1", "pillow@8.1.0", "pyyaml@5.3.1", "jinja2@2.11.2", "numpy@1.20.3"],
    packages: {
      "django@3.2": ["BSD-3-Clause", "asgiref@3.3.4", "pytz@2021.1", "sqlparse@0.4.1"],
      "asgiref@3.3.4": ["BSD-3-Clause"],
      "pytz@2021.1": ["MIT"],
      "sqlparse@0.4.1": ["BSD-3-Clause"],
      "requests@2.25.1": ["Apache-2.0", "certifi@2020.12.5", "chardet@4.0.0", "idna@2.10", "urllib3@1.26.4"],
      "certifi@2020.12.5": ["MPL-2.0"],
      "chardet@4.0.0": ["LGPL-2.1-or-later"],
      "idna@2.10": ["BSD-3-Clause"],
      "urllib3@1.26.4": ["MIT"],
      "pillow@8.1.0": ["HPND"],
      "pyyaml@5.3.1": ["MIT"],
      "jinja2@2.11.2": ["BSD-3-Clause", "markupsafe@1.1.1"],
      "markupsafe@1.1.1": ["BSD-3-Clause"],
      "numpy@1.20.3": ["BSD-3-Clause"],
    },
  },
  {
    project: "sample-payments",
    type: "pkg:maven/",
    direct: [
      "org.springframework/spring-webmvc@5.3.17",
      "org.apache.logging.log4j/log4j-core@2.14.1",
      "com.fasterxml.jackson.core/jackson-databind@2.12.6",
      "org.apache.commons/commons-text@1.9",
      "com.h2database/h2@1.4.200",
    ],
    packages: {
      "org.springframework/spring-webmvc@5.3.17": [
        "Apache-2.0",
        "org.springframework/spring-beans@5.3.17",
        "org.springframework/spring-core@5.3.17",
        "org.springframework/spring-expression@5.3.17",
        "org.springframework/spring-web@5.3.17",
      ],
      "org.springframework/spring-beans@5.3.17": ["Apache-2.0", "org.springframework/spring-core@5.3.17"],
      "org.springframework/spring-core@5.3.17": ["Apache-2.0"],
      "org.springframework/spring-expression@5.3.17": ["Apache-2.0", "org.springframework/spring-core@5.3.17"],
      "org.springframework/spring-web@5.3.17": ["Apache-2.0", "org.springframework/spring-beans@5.3.17"],
      "org.apache.logging.log4j/log4j-core@2.14.1": ["Apache-2.0", "org.apache.logging.log4j/log4j-api@2.14.1"],
      "org.apache.logging.log4j/log4j-api@2.14.1": ["Apache-2.0"],
      "com.fasterxml.jackson.core/jackson-databind@2.12.6": [
        "Apache-2.0",
        "com.fasterxml.jackson.core/jackson-annotations@2.12.6",
        "com.fasterxml.jackson.core/jackson-core@2.12.6",
      ],
      "com.fasterxml.jackson.core/jackson-annotations@2.12.6": ["Apache-2.0"],
      "com.fasterxml.jackson.core/jackson-core@2.12.6": ["Apache-2.0"],
      "org.apache.commons/commons-text@1.9": ["Apache-2.0", "org.apache.commons/commons-lang3@3.11"],
      "org.apache.commons/commons-lang3@3.11": ["Apache-2.0"],
      "com.h2database/h2@1.4.200": ["MPL-2.0"],
    },
  },
];

function documentOf({ project, type, direct, packages }: Sample): object {
  const refs = (names: readonly string[]) => names.map((name) => type + name);
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "application", "bom-ref": project, name: project, version: "1.0.0" } },
    components: Object.entries(packages).map(([name, [license]]) => ({ ...componentOf(name), ...placeOf(type + name, license) })),
    dependencies: [
      { ref: project, dependsOn: refs(direct) },
      ...Object.entries(packages).map(([name, [, ...needs]]) => ({ ref: type + name, dependsOn: refs(needs) })),
    ],
  };
}

/** @param named such as `group/name@version` */
function componentOf(named: string): object {
  const [path = "", version] = named.split("@");
  const [name, group] = path.split("/").toReversed();
  return { type: "library", ...(group !== undefined && { group }), name, version };
}

function placeOf(purl: string, license: string): object {
  return { "bom-ref": purl, purl, licenses: [{ license: { id: license } }] };
}
