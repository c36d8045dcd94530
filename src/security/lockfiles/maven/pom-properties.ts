/** Properties of a pom.xml, `${name}`: https://maven.apache.org/pom.html#properties */
import { lockFileTextCharactersMax } from "../../limits.ts";
import { childOf, childText, type XmlElement } from "../parse/xml.ts";

export interface PomProperties {
  /** The text with its properties replaced; null if one is defined outside of the file, or circularly. */
  filled(text: string): string | null;
}

const stepsMax = 32;

export function pomProperties(project: XmlElement): PomProperties {
  const own = childOf(project, "properties")?.children ?? [];
  const values = new Map(own.map(({ name, text }) => [name, text.trim()]));
  const parent = childOf(project, "parent");
  for (const field of ["groupId", "artifactId", "version"]) {
    const ofParent = childText(parent, field);
    const value = childText(project, field) ?? (field === "artifactId" ? null : ofParent);
    if (value !== null)
      for (const prefix of ["project.", "pom.", ""]) if (!values.has(prefix + field)) values.set(prefix + field, value);
    if (ofParent !== null) values.set(`project.parent.${field}`, ofParent);
  }
  return { filled: (text) => filledIn(text, values) };
}

/** A value may contain further properties; each step replaces one. */
function filledIn(text: string, values: ReadonlyMap<string, string>): string | null {
  let filled = text;
  for (let step = 0; step < stepsMax; step++) {
    const [written, name = ""] = /\$\{([^${}]{1,200})\}/.exec(filled) ?? [];
    if (written === undefined) return filled.includes("${") ? null : filled;
    const value = values.get(name.trim());
    if (value === undefined || filled.length + value.length > lockFileTextCharactersMax) return null;
    filled = filled.replace(written, () => value);
  }
  return null;
}
