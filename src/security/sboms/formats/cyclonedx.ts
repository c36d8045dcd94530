/**
 * Converts a validated CycloneDX document to the parsed form. Nested components follow the one that contains them. It checks nothing: the
 * shape has already refused what cannot be read.
 */
import type { SbomEdge, SbomEncoding, ParsedSbom, ParsedComponent } from "../document.ts";
import { isObject, type JsonObject, listOf, objectOf, objectsOf, textOf, textsOf } from "../json.ts";

export function extractCycloneDx(bom: JsonObject, encoding: SbomEncoding): ParsedSbom {
  const metadata = objectOf(bom, "metadata") ?? {};
  const described = objectOf(metadata, "component");
  const components: ParsedComponent[] = [];
  const root = described === null ? null : componentOf(described, null);
  if (described !== null) gather(described, { parent: root, into: components });
  gather(bom, { parent: null, into: components });
  return {
    format: "CycloneDX",
    specVersion: textOf(bom, "specVersion") ?? "",
    encoding,
    documentId: textOf(bom, "serialNumber"),
    name: root?.name ?? null,
    created: textOf(metadata, "timestamp"),
    tools: toolsOf(metadata),
    root,
    tops: [],
    components,
    edges: edgesOf(bom),
    holdings: [],
    otherRefs: new Set(serviceRefs(bom)),
  };
}

function componentOf(written: JsonObject, parent: ParsedComponent | null): ParsedComponent {
  return {
    ref: textOf(written, "bom-ref"),
    type: textOf(written, "type"),
    group: textOf(written, "group"),
    name: textOf(written, "name") ?? "",
    version: textOf(written, "version"),
    versionRange: textOf(written, "versionRange"),
    purl: textOf(written, "purl"),
    licenses: objectsOf(written, "licenses").flatMap(licenseText),
    hashes: listOf(written, "hashes").length,
    scope: textOf(written, "scope"),
    external: written["isExternal"] === true,
    parent,
  };
}

function licenseText(choice: JsonObject): string[] {
  const license = objectOf(choice, "license") ?? {};
  return [textOf(choice, "expression") ?? textOf(license, "id") ?? textOf(license, "name")].filter((text) => text !== null);
}

/** Includes nested components, each after its container. */
function gather(holder: JsonObject, { parent, into }: { parent: ParsedComponent | null; into: ParsedComponent[] }): void {
  for (const written of objectsOf(holder, "components")) {
    const component = componentOf(written, parent);
    into.push(component);
    gather(written, { parent: component, into });
  }
}

/** A list of tools until 1.4; since 1.5 also components and services. */
function toolsOf(metadata: JsonObject): string[] {
  const tools = metadata["tools"];
  const parts = isObject(tools)
    ? [...objectsOf(tools, "components"), ...objectsOf(tools, "services")]
    : objectsOf(metadata, "tools");
  return parts.map((tool) => {
    const named = [textOf(tool, "vendor") ?? textOf(tool, "group"), textOf(tool, "name")]
      .filter((part) => part !== null)
      .join("/");
    const version = textOf(tool, "version");
    return version === null ? named : `${named}@${version}`;
  });
}

function edgesOf(bom: JsonObject): SbomEdge[] {
  return objectsOf(bom, "dependencies").flatMap((dependency) => {
    const from = textOf(dependency, "ref");
    return from === null ? [] : textsOf(dependency, "dependsOn").map((to) => ({ from, to }));
  });
}

function serviceRefs(holder: JsonObject): string[] {
  return objectsOf(holder, "services").flatMap((service) => [textOf(service, "bom-ref") ?? [], serviceRefs(service)].flat());
}
