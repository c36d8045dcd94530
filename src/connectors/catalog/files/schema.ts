/**
 * The files below catalog-data that make the connector catalog. The order of the properties here is the order in the files and in
 * every export; a `description` is what a message says is needed. docs/connectors.md tells in prose what each field means.
 */
import { Type, type Static, type TProperties } from "@sinclair/typebox";

const Line = Type.String({ pattern: "^\\S(.{0,298}\\S)?$", description: "one line of text without blanks around it" });
const Slug = Type.String({
  pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
  maxLength: 80,
  description: "lower-case letters and digits with hyphens between them",
});
const Day = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "a day such as 2026-11-20" });
const Address = Type.String({ pattern: "^https://[^\\s/.]+\\.\\S+$", description: "an https address" });

/** In the order in which they are shown. */
export const methods = ["oauth", "api_token", "mcp", "record_only"] as const;
const Method = oneOf(methods);
export type Method = (typeof methods)[number];

export const forms = ["specific", "generic", "none"] as const;

/** What a piece of evidence can bear out, in the order of the fields that make the claims. */
export const claims = ["fields", "grant", "docs", "mcp", "oauth"] as const;
export type Claim = (typeof claims)[number];

export const Field = strict({
  key: Type.String({ pattern: "^[a-z][a-z0-9]*(_[a-z0-9]+)*$", description: "a name in snake_case, stable for good" }),
  label: Line,
  secret: Type.Boolean({ description: "true or false" }),
  optional: Type.Boolean({ description: "true or false" }),
  kind: oneOf(["text", "url", "email", "multiline", "json", "region"] as const),
  /** What a value looks like; secrets have none. */
  example: Type.Optional(Line),
});
export type Field = Static<typeof Field>;

export const CredentialSet = strict({
  fields: Type.Array(Field, { minItems: 1, description: "a list of at least one field" }),
});
export type CredentialSet = Static<typeof CredentialSet>;

export const Grant = strict({
  /** The vendor's own name of the role or permission; null where the scopes say it all, or only notes are known. */
  text: orNull(Line),
  scopes: Type.Array(Line, { description: "a list of scopes, empty where the grant is none" }),
  /** Codes of grant-notes.json. */
  notes: Type.Array(Line, { description: "a list of codes of grant-notes.json" }),
  /** The vendor's plan that a note speaks of. */
  plan: Type.Optional(Line),
});
export type Grant = Static<typeof Grant>;

export const Evidence = strict({
  url: Address,
  for: Type.Array(oneOf(claims), { minItems: 1, description: `a list of what the source bears out: ${claims.join(", ")}` }),
  seen: Day,
});
export type Evidence = Static<typeof Evidence>;

export const Connector = strict({
  /** Made once, from the first slug; it stays when the slug changes and is never given to another. */
  id: Slug,
  slug: Slug,
  name: Line,
  /** Other and former names. */
  aka: Type.Optional(Type.Array(Line, { minItems: 1, description: "a list of at least one other name" })),
  vendor: Line,
  category: Line,
  methods: Type.Array(Method, { minItems: 1, description: `a list of ${methods.join(", ")}` }),
  /** The vendor offers OAuth: kept for whoever makes an app there, and not shown. */
  vendor_oauth: Type.Optional(Type.Literal(true, { description: "true, or the field left out" })),
  form: oneOf(forms),
  /** The first is the default, the others stand in its place. Absent where the form is not specific. */
  credential_sets: Type.Optional(Type.Array(CredentialSet, { minItems: 1, description: "a list of at least one set of fields" })),
  grant: orNull(Grant),
  docs: orNull(Address),
  mcp: orNull(strict({ url: Address })),
  evidence: Type.Array(Evidence, { description: "a list of sources" }),
});
export type Connector = Static<typeof Connector>;

export const Categories = Type.Array(strict({ name: Line }), { description: "a list of objects with a name" });

/** `{plan}` in a text stands for the connector's plan. */
export const GrantNotes = Type.Array(strict({ code: Line, text: Line }), { description: "a list of objects with code and text" });
export type GrantNotes = Static<typeof GrantNotes>;

/** Vendors at which this service has an OAuth app, by the connector's id. */
export const OAuthApps = Type.Array(strict({ connector: Slug }), {
  description: "a list of objects with the id of a connector",
});

function strict<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}

/** One of fixed words. */
export function oneOf<const Words extends readonly string[]>(words: Words) {
  const literals = words.map((word) => Type.Literal(word));
  return Type.Unsafe<Words[number]>(Type.Union(literals, { description: `one of ${words.join(", ")}` }));
}

function orNull<Schema extends ReturnType<typeof strict> | typeof Line>(schema: Schema) {
  const description = `${schema.description ?? "an object"}, or null`;
  return Type.Union([schema, Type.Null()], { description });
}
