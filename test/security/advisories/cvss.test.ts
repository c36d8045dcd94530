import { describe, expect, test } from "bun:test";
import { assert, constantFrom, property, record, tuple, uniqueArray, type Arbitrary } from "fast-check";
import { grammars, type CvssVersion, CvssError, scoreVector, severityWord } from "../../../src/security/advisories/cvss.ts";

const runs = { numRuns: 300 };

describe("examples of FIRST have their published scores", () => {
  test.each([
    ["AV:N/AC:L/Au:N/C:N/I:N/A:C", 7.8],
    ["AV:N/AC:L/Au:N/C:C/I:C/A:C", 10],
    ["AV:L/AC:H/Au:N/C:C/I:C/A:C", 6.2],
    ["CVSS:3.0/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N", 6.1],
    ["CVSS:3.0/AV:N/AC:L/PR:L/UI:N/S:C/C:L/I:L/A:N", 6.4],
    ["CVSS:3.0/AV:N/AC:H/PR:N/UI:R/S:U/C:L/I:N/A:N", 3.1],
    ["CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:H/I:H/A:H", 9.9],
    ["CVSS:3.1/AV:L/AC:L/PR:H/UI:N/S:U/C:L/I:L/A:L", 4.2],
    ["CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N", 7.5],
    ["CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", 9.8],
    ["CVSS:3.1/AV:A/AC:L/PR:N/UI:N/S:C/C:H/I:N/A:H", 9.3],
    ["CVSS:3.1/AV:P/AC:L/PR:N/UI:N/S:U/C:N/I:H/A:N", 4.6],
    ["CVSS:4.0/AV:L/AC:L/AT:P/PR:L/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", 7.3],
    ["CVSS:4.0/AV:N/AC:L/AT:P/PR:N/UI:P/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", 7.7],
    ["CVSS:4.0/AV:N/AC:L/AT:P/PR:N/UI:P/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N/E:U", 5.2],
    ["CVSS:4.0/AV:N/AC:L/AT:P/PR:N/UI:N/VC:H/VI:L/VA:L/SC:N/SI:N/SA:N", 8.3],
    ["CVSS:4.0/AV:N/AC:L/AT:P/PR:N/UI:N/VC:H/VI:L/VA:L/SC:N/SI:N/SA:N/CR:H/IR:L/AR:L/MAV:N/MAC:H/MVC:H/MVI:L/MVA:L", 8.1],
    ["CVSS:4.0/AV:L/AC:L/AT:N/PR:N/UI:A/VC:L/VI:N/VA:N/SC:N/SI:N/SA:N", 4.6],
    ["CVSS:4.0/AV:L/AC:L/AT:N/PR:H/UI:N/VC:N/VI:N/VA:N/SC:H/SI:N/SA:N", 5.9],
    ["CVSS:4.0/AV:L/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H", 9.4],
    ["CVSS:4.0/AV:P/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:H/SA:N/S:P/V:D", 8.3],
    ["CVSS:4.0/AV:N/AC:H/AT:P/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N/E:P/MAC:L/MAT:N/MVC:N/MVI:N/MVA:L", 5.5],
  ])("%s is %p", (vector, score) => {
    expect(scoreVector(vector).score).toBe(score);
  });
});

describe("the shown score", () => {
  test("is the base score of 2.0 and 3.x, without temporal and environmental metrics", () => {
    expect(scoreVector("AV:N/AC:L/Au:N/C:N/I:N/A:C/E:F/RL:OF/RC:C/CDP:N/TD:N/CR:L/IR:L/AR:L").score).toBe(7.8);
    expect(scoreVector("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:U/RL:O/RC:U/MAV:P").score).toBe(9.8);
  });

  test("is the overall score of 4.0, including threat metrics", () => {
    const base = "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N";
    expect([scoreVector(base).score, scoreVector(`${base}/E:U`).score]).toEqual([9.3, 8.1]);
  });

  test("is 0.0 and has no severity for a vector without impact", () => {
    for (const vector of ["AV:L/AC:H/Au:M/C:N/I:N/A:N", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N"]) {
      expect(scoreVector(vector)).toMatchObject({ score: 0, severity: null });
    }
  });
});

test("a CVSS 2.0 score from 7.0 is high and never critical; other versions follow their scale", () => {
  const words = (version: CvssVersion) => [0, 0.1, 3.9, 4, 6.9, 7, 8.9, 9, 10].map((score) => severityWord(version, score));
  expect(words("2.0")).toEqual([null, "low", "low", "medium", "medium", "high", "high", "high", "high"]);
  for (const version of ["3.0", "3.1", "4.0"] as const) {
    expect(words(version)).toEqual([null, "low", "low", "medium", "medium", "high", "high", "critical", "critical"]);
  }
});

describe("a text that is almost a vector is refused and not scored", () => {
  const three = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";
  const four = "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N";
  test.each([
    ["", "which is not a metric"],
    ["9.8", "which is not a metric"],
    [three.slice(9), "which is not a metric"],
    ["CVSS:3.1/AV:N/AC:L", 'lacks the mandatory metric "PR"'],
    [`${three}/AV:N`, 'holds the metric "AV" twice'],
    [`${three}/`, 'holds ""'],
    [`${three}/E:Z`, 'metric "E" has no value "Z"'],
    [three.replace("AV:N", "AV:n"), 'metric "AV" has no value "n"'],
    [three.replace("3.1", "3.2"), 'begins with "CVSS:3.2/"'],
    [three.replace("CVSS", "cvss"), 'begins with "cvss:3.1/"'],
    [` ${three}`, "which is not a metric"],
    ["CVSS:3.1", 'begins with "CVSS:3.1"'],
    ["CVSS:2.0/AV:N/AC:L/Au:N/C:N/I:N/A:C", 'begins with "CVSS:2.0/"'],
    ["(AV:N/AC:L/Au:N/C:N/I:N/A:C)", "which is not a metric"],
    [four.replace("4.0", "3.1"), 'holds "AT:N"'],
    [`${four}/E:F`, 'metric "E" has no value "F"'],
    [four.replace("AV:N/AC:L", "AC:L/AV:N"), "is not in the order of the specification"],
    [`${four}/CR:H/E:A`, "is not in the order of the specification"],
    [`${four}/${"CR:H/".repeat(200)}`, "at most 512 are possible"],
  ])("%s", (vector, reason) => {
    expect(() => scoreVector(vector)).toThrow(CvssError);
    expect(() => scoreVector(vector)).toThrow(reason);
  });

  test("metrics of 2.0 and 3.x may have any order", () => {
    expect(scoreVector("CVSS:3.1/S:U/AV:N/A:H/AC:L/PR:N/UI:N/C:H/I:H").score).toBe(9.8);
    expect(scoreVector("C:N/AV:N/AC:L/Au:N/I:N/A:C").score).toBe(7.8);
  });
});

type Choice = Record<string, string>;

/** Every mandatory metric, and some of the others. */
function choices(version: CvssVersion): Arbitrary<Choice> {
  const metrics = [...grammars[version].metrics];
  const mandatory = metrics.filter(([, metric]) => metric.mandatory);
  const others = metrics.filter(([, metric]) => !metric.mandatory);
  const all = record(Object.fromEntries(metrics.map(([name, { values }]) => [name, constantFrom(...values)])));
  return tuple(all, uniqueArray(constantFrom(...others.map(([name]) => name)))).map(([chosen, kept]) =>
    Object.fromEntries(
      Object.entries(chosen).filter(([name]) => kept.includes(name) || mandatory.some(([wanted]) => wanted === name)),
    ),
  );
}

function vectorOf(version: CvssVersion, choice: Choice): string {
  const names = [...grammars[version].metrics.keys()].filter((name) => name in choice);
  return grammars[version].prefix + names.map((name) => `${name}:${choice[name]}`).join("/");
}

const versions: CvssVersion[] = ["2.0", "3.0", "3.1", "4.0"];

describe.each(versions)("any CVSS %s vector", (version) => {
  test("has a score of 0.0 to 10.0 with one decimal, and the severity of its scale", () => {
    const holds = (choice: Choice) => {
      const { score, severity } = scoreVector(vectorOf(version, choice));
      return (
        score >= 0 &&
        score <= 10 &&
        Math.abs(score * 10 - Math.round(score * 10)) < 1e-9 &&
        severity === severityWord(version, score)
      );
    };
    assert(property(choices(version), holds), runs);
  });

  test("does not get a lower score for a higher impact", () => {
    const impacts = version === "4.0" ? ["VC", "VI", "VA"] : ["C", "I", "A"];
    const worst = version === "2.0" ? "C" : "H";
    const holds = (choice: Choice, impact: string) => {
      const base = Object.fromEntries(Object.entries(choice).filter(([name]) => grammars[version].metrics.get(name)?.mandatory));
      const worse = scoreVector(vectorOf(version, { ...base, [impact]: worst })).score;
      return worse >= scoreVector(vectorOf(version, base)).score;
    };
    assert(property(choices(version), constantFrom(...impacts), holds), runs);
  });

  test("is refused without one of its mandatory metrics", () => {
    const mandatory = [...grammars[version].metrics].filter(([, metric]) => metric.mandatory).map(([name]) => name);
    const holds = (choice: Choice, left: string) => {
      const { [left]: _, ...rest } = choice;
      expect(() => scoreVector(vectorOf(version, rest))).toThrow(CvssError);
    };
    assert(property(choices(version), constantFrom(...mandatory), holds), runs);
  });
});
