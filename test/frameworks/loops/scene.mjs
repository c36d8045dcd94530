/** The requests of the loops on Node; see scene.py. */
import assert from "node:assert/strict";

export const { WEIR_URL: baseURL, WEIR_KEY: apiKey, WEIR_MODEL: model } = process.env;
export const question = "How warm are Oslo and Rome? Report it.";
export const again = "And how warm are they now?";
/** What a model that thinks has thought before it calls its tools. */
export const thought = "Both cities need a forecast.";
export const weather = { Oslo: "7", Rome: "19" };

export function checkCities(cities) {
  assert.deepEqual(cities.toSorted(), ["Oslo", "Rome"]);
}

export function checkReport(report) {
  assert.deepEqual(report, { summary: "Oslo 7, Rome 19", degrees: 26 });
}

/** Checks that the first report is wrong. @returns the complaint about it */
export async function complaintOf(report) {
  const problem = await report().then(() => null, String);
  assert.ok(problem, "the first report is to be wrong");
  return `${question} Not so, it is not tepid: ${problem}`;
}
