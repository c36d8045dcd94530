/** The refusal of bad input names the parameter. */
import { expect, test } from "bun:test";
import { readListQuery, readSince } from "../../../src/connectors/catalog/read-parameters.ts";

const categories = ["HRIS", "Identity & SSO"];
const list = (query: string) => readListQuery(new URLSearchParams(query), categories);

test("without parameters the list contains everything, 50 at a time", () => {
  expect(list("")).toEqual({ category: null, method: null, q: "", limit: 50, offset: 0 });
});

test("filters apply together, and empty ones, as forms send them, are ignored", () => {
  const query = { category: "Identity & SSO", method: "mcp", q: "Okta", limit: 200, offset: 7 };
  expect<object>(list("category=Identity+%26+SSO&method=mcp&q=Okta&limit=200&offset=7")).toEqual(query);
  expect(list("category=&method=&q=")).toEqual(list(""));
});

test.each([
  ["limit=0", 'The parameter "limit" is "0": a whole number from 1 to 200 is needed'],
  ["limit=201", 'The parameter "limit" is "201": a whole number from 1 to 200 is needed'],
  ["limit=", 'The parameter "limit" is "": a whole number from 1 to 200 is needed'],
  ["limit=1e1", 'The parameter "limit" is "1e1": a whole number from 1 to 200 is needed'],
  ["offset=-1", 'The parameter "offset" is "-1": a whole number from 0 to 1000000 is needed'],
  ["category=hris", 'The parameter "category" is "hris": one of "HRIS", "Identity & SSO" is needed'],
  ["method=saml", 'The parameter "method" is "saml": one of "oauth", "api_token", "mcp", "record_only" is needed'],
  [`q=${"x".repeat(201)}`, 'The parameter "q" is a text of 201 characters: a text of at most 200 characters is needed'],
  ["q=a&q=b", 'The parameter "q" is repeated: send it once'],
  ["catgory=HRIS", 'There is no parameter "catgory": the nearest known parameter is "category"'],
])("%s is refused", (query, message) => {
  expect(() => list(query)).toThrow(message);
});

test("changes require the parameter since", () => {
  expect(readSince(new URLSearchParams("since=0"))).toBe("0");
  expect(() => readSince(new URLSearchParams(""))).toThrow('The parameter "since" is missing');
});
