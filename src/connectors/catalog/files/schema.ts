/**
 * The schemas of the files in catalog-data that make up the connector catalog. The order of properties here is the order in the files and
 * in every export. Messages quote each `description`. docs/reference/connectors.md explains every field.
 */
import { Type, type Static, type TProperties } from "@sinclair/typebox";

const Line = Type.String({ pattern: "^\\S(.{0,298}\\S)?$", description: "one line of text without surrounding spaces" });
const Slug = Type.String({
  pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
  maxLength: 80,
  description: "lower-case letters and digits with hyphens between them",
});
const Day = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "a day such as 2026-11-20" });
const Address = Type.String({ pattern: "^https://[^\\s/.]+\\.\\S+$", description: "an https address" });

/** In display order. */
export const methods = ["oauth", "api_token", "mcp", "record_only"] as const;
const Method = oneOf(methods);
export type Method = (typeof methods)[number];

const forms = ["specific", "generic", "none"] as const;

/** The claims that evidence can support, in the order of their fields. */
export const claims = ["fields", "grant", "docs", "mcp", "oauth"] as const;
export type Claim = (typeof claims)[number];

export const Field = strict({
  key: Type.String({ pattern: "^[a-z][a-z0-9]*(_[a-z0-9]+)*$", description: "a permanent name in snake_case" }),
  label: Line,
  secret: Type.Boolean({ description: "true or false" }),
  optional: Type.Boolean({ description: "true or false" }),
  kind: oneOf(["text", "url", "email", "multiline", "json", "region"] as const),
  /** An example value; secrets have none. */
  example: Type.Optional(Line),
  /** Weir makes its value, and no form asks for it. */
  generated: Type.Optional(Type.Literal(true, { description: "true, or the field left out" })),
});
export type Field = Static<typeof Field>;

/** What stands in a template for the value of a field. */
export const placeholder = /\{([a-z][a-z0-9_]*)\}/g;

/** The keys of the fields in a template, in order. */
export function keysIn(template: string): string[] {
  return [...template.matchAll(placeholder)].map(([, key = ""]) => key);
}

const Template = Type.String({ minLength: 1, maxLength: 2_000, description: "a text with {key} for the value of a field" });
const AddressTemplate = Type.String({
  pattern: "^(https://|\\{)[\\u0021-\\u007e]+$",
  maxLength: 2_000,
  description: "an https address with {key} for the value of a field",
});
export const Pair = strict({ name: Line, value: Template });
export type Pair = Static<typeof Pair>;
const Basic = Type.Array(Template, { minItems: 2, maxItems: 2, description: "a list of the user and the password" });

/** One request that only reads, by which credentials are tested. Its page at the vendor documents it. */
export const DeclaredProbe = strict(
  {
    /** What is asked for a token before, by RFC 6749; the request's `{access_token}` is that token. */
    token: Type.Optional(
      strict(
        {
          url: AddressTemplate,
          basic: Type.Optional(Basic),
          form: Type.Array(Pair, { description: "a list of its fields" }),
        },
        { description: "the request for a token before it (RFC 6749)" },
      ),
    ),
    method: oneOf(["GET", "POST"] as const),
    url: AddressTemplate,
    /** The domains in which a host must lie that is one field alone; absent: the customer's own server. */
    hosts: Type.Optional(Type.Array(Line, { minItems: 1, description: "a list of the vendor's domains" })),
    headers: Type.Optional(Type.Array(Pair, { minItems: 1, description: "a list of headers" })),
    basic: Type.Optional(Basic),
    /** JSON. */
    body: Type.Optional(Template),
    /** Statuses by which the vendor accepts credentials that may not read what is asked for. */
    lacks_grant: Type.Optional(
      Type.Array(Type.Integer({ minimum: 400, maximum: 499 }), { minItems: 1, description: "a list of statuses" }),
    ),
    source: Address,
    seen: Day,
  },
  { description: "one request that only reads, by which the credentials are tested" },
);
export type DeclaredProbe = Static<typeof DeclaredProbe>;

export const CredentialSet = strict({
  fields: Type.Array(Field, { minItems: 1, description: "a list of at least one field" }),
  /** How to test these credentials; absent: they have no test. */
  probe: Type.Optional(DeclaredProbe),
});
export type CredentialSet = Static<typeof CredentialSet>;

export const Grant = strict({
  /** The vendor's name for the role or permission; null if the scopes are sufficient or only notes are known. */
  text: orNull(Line),
  scopes: Type.Array(Line, { description: "a list of scopes, empty if there is no grant" }),
  /** Codes of grant-notes.json. */
  notes: Type.Array(Line, { description: "a list of codes of grant-notes.json" }),
  /** The vendor's plan that a note refers to. */
  plan: Type.Optional(Line),
});
export type Grant = Static<typeof Grant>;

/** A set as in the files; rows have only its fields, not its grant. */
export const FileCredentialSet = strict({
  ...CredentialSet.properties,
  /** The part of the connector's grant that this set needs; null if no source names one; absent if it needs the whole grant. */
  grant: Type.Optional(orNull(Grant)),
});
export type FileCredentialSet = Static<typeof FileCredentialSet>;

export const Evidence = strict({
  url: Address,
  for: Type.Array(oneOf(claims), { minItems: 1, description: `a list of what the source supports: ${claims.join(", ")}` }),
  /** Whose word it is: the vendor's own, or a witness's, which counts as checked only with a second one. Absent: not judged yet. */
  by: Type.Optional(oneOf(["vendor", "witness"] as const)),
  seen: Day,
});
export type Evidence = Static<typeof Evidence>;

export const Connector = strict({
  /** Created once, from the first slug. It stays when the slug changes, and is never reused. */
  id: Slug,
  slug: Slug,
  name: Line,
  /** Other and former names. */
  aka: Type.Optional(Type.Array(Line, { minItems: 1, description: "a list of at least one other name" })),
  vendor: Line,
  category: Line,
  methods: Type.Array(Method, { minItems: 1, description: `a list of ${methods.join(", ")}` }),
  /** Whether the vendor offers OAuth. Stored for the operator who creates an app there; not shown. */
  vendor_oauth: Type.Optional(Type.Literal(true, { description: "true, or the field left out" })),
  form: oneOf(forms),
  /** The first set is the default, the others are alternatives. Absent if the form is not specific. */
  credential_sets: Type.Optional(
    Type.Array(FileCredentialSet, { minItems: 1, description: "a list of at least one set of fields" }),
  ),
  grant: orNull(Grant),
  docs: orNull(Address),
  mcp: orNull(strict({ url: Address })),
  evidence: Type.Array(Evidence, { description: "a list of sources" }),
});
export type Connector = Static<typeof Connector>;

export const Categories = Type.Array(strict({ name: Line }), { description: "a list of objects with a name" });

/** `{plan}` in a text is replaced with the connector's plan. */
export const GrantNotes = Type.Array(strict({ code: Line, text: Line }), { description: "a list of objects with code and text" });
export type GrantNotes = Static<typeof GrantNotes>;

/** The vendors with which this service has an OAuth app, by connector id. */
export const OAuthApps = Type.Array(strict({ connector: Slug }), {
  description: "a list of objects with the id of a connector",
});

/** Words that find connectors, besides their names. No row and no export has them. */
export const SearchWords = strict({
  /** Abbreviations, former names and products, each with a page that states them. */
  connectors: Type.Array(
    strict({
      connector: Slug,
      words: Type.Array(Line, { minItems: 1, description: "a list of at least one name" }),
      source: Address,
    }),
    { description: "a list of objects with connector, words and source" },
  ),
  categories: Type.Array(strict({ category: Line, words: Type.Array(Line, { description: "a list of words" }) }), {
    description: "a list of objects with category and words",
  }),
  methods: Type.Array(strict({ method: Method, words: Type.Array(Line, { description: "a list of words" }) }), {
    description: "a list of objects with method and words",
  }),
  /** Ids, the most popular first. */
  popular: Type.Array(Slug, { description: "a list of ids of connectors" }),
});
export type SearchWords = Static<typeof SearchWords>;

/** One of a fixed set of words. */
export function oneOf<const Words extends readonly string[]>(words: Words) {
  const literals = words.map((word) => Type.Literal(word));
  return Type.Unsafe<Words[number]>(Type.Union(literals, { description: `one of ${words.join(", ")}` }));
}

/** The checked connector catalog, sorted by id. */
export interface ConnectorCatalog {
  /** Names, in display order. */
  categories: readonly string[];
  grantNotes: GrantNotes;
  connectors: readonly Connector[];
}

function strict<Properties extends TProperties>(properties: Properties, about: { description?: string } = {}) {
  return Type.Object(properties, { additionalProperties: false, ...about });
}

function orNull<Schema extends ReturnType<typeof strict> | typeof Line>(schema: Schema) {
  const description = `${schema.description ?? "an object"}, or null`;
  return Type.Union([schema, Type.Null()], { description });
}
