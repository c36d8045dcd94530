import { ofWorkspace } from "../../flags.ts";
import { printUsage } from "../../print-usage.ts";
import { email, id, rows, text, timeOrAge } from "../../value.ts";
import type { Verb } from "../../verb.ts";

export const usageVerbs: readonly Verb[] = [
  {
    noun: "usage",
    verb: "",
    summary: "Sum requests, tokens and charges",
    method: "GET",
    path: "/usage",
    flags: [
      ofWorkspace,
      {
        name: "by",
        field: "by",
        value: text,
        help: "some of hour, day, month, key, member, model, provider, endpoint, with commas between",
      },
      { name: "since", field: "from", value: timeOrAge, help: "a date, a time, or an age such as 24h or 7d; default: 30 days" },
      { name: "until", field: "to", value: timeOrAge, help: "a date, a time or an age; default: now" },
      { name: "tz", field: "tz", value: text, help: "time zone of dates and periods, such as Europe/Berlin; default UTC" },
      { name: "key", field: "key", value: id, help: "only this key" },
      { name: "member", field: "member", value: email, help: "only keys of this member, by email" },
      { name: "model", field: "model", value: text, help: "only this model" },
      { name: "limit", field: "limit", value: rows, help: "rows at most, 1 to 10000, the others as one; default 1000" },
    ],
    show: printUsage,
    example: "--workspace default --by day,model --since 7d",
  },
];
