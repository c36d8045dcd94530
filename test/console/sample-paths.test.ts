/** Every page of the Console can be shown in the sample. */
import { expect, test } from "bun:test";
import { pages } from "../../src/console/pages.ts";
import { hasParameters, nameOf, samplePaths } from "../support/console-sample/paths.ts";

test("each page with parameters has a path in the sample, and no other has one", () => {
  expect(Object.keys(samplePaths).toSorted()).toEqual(pages.filter(hasParameters).map(nameOf).toSorted());
});
