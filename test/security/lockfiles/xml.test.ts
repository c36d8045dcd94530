import { describe, expect, test } from "bun:test";
import { read, refusal } from "./lock-text.ts";

describe("XML of projects", () => {
  test("pom.xml may hold its texts in CDATA sections", () => {
    const artifact = "<groupId>a</groupId><artifactId>b</artifactId>";
    const dependency = `<dependency>${artifact}<version><![CDATA[1.0]]></version></dependency>`;
    const file = read("pom.xml", `<project><dependencies>${dependency}</dependencies></project>`);
    expect(file.packages.map(({ purl }) => purl)).toEqual(["pkg:maven/a/b@1.0"]);
  });

  test("a refusal of pom.xml does not repeat a long name, and an element has a bounded number of attributes", () => {
    expect(refusal("pom.xml", `<project><${"a".repeat(5_000)}>`).length).toBeLessThan(300);
    const attributes = Array.from({ length: 200_001 }, (_, n) => `a${n}="1"`).join(" ");
    expect(refusal("pom.xml", `<project ${attributes}/>`)).toContain("too many attributes");
  });
});
