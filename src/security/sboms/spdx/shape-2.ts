/**
 * The rules of SPDX 2.2 and 2.3 for the fields that are read; source: the JSON schemas of both. Tag-value documents are
 * converted to the same value first. Fields outside of the schemas are accepted: the schemas forbid them, but many tools add
 * some, and none changes the meaning of known fields.
 */
import { versionCharactersMax } from "../../limits.ts";
import { always, field, list, type ObjectShape, object, opaque, text } from "../shape/shape.ts";
import { relationshipTypes } from "./relationships.ts";

const id = field(text({ charactersMin: 1 }), { required: always });
const required = field(text(), { required: always });
/** Required until 2.2. */
const until2 = field(text(), { required: [2, 2] });

const purposes =
  "APPLICATION FRAMEWORK LIBRARY CONTAINER OPERATING_SYSTEM DEVICE FIRMWARE SOURCE ARCHIVE FILE INSTALL OTHER".split(" ");

const externalRef = object({ referenceCategory: required, referenceLocator: required, referenceType: required });
const checksum = object({ algorithm: required, checksumValue: required });

const packageShape = object(
  {
    SPDXID: id,
    name: required,
    versionInfo: field(text({ charactersMax: versionCharactersMax })),
    downloadLocation: required,
    licenseConcluded: until2,
    licenseDeclared: until2,
    copyrightText: field(text({ charactersMax: Number.POSITIVE_INFINITY }), { required: [2, 2] }),
    primaryPackagePurpose: field(text({ oneOf: new Map(purposes.map((name) => [name, 3])) }), { since: 3 }),
    externalRefs: field(list(() => externalRef)),
    checksums: field(list(() => checksum)),
  },
  { identity: () => "SPDXID" },
);

const element = object({ SPDXID: id }, { identity: () => "SPDXID" });

const relationship = object({
  spdxElementId: id,
  relatedSpdxElement: id,
  relationshipType: field(text({ oneOf: relationshipTypes }), { required: always }),
});

export const spdx2: ObjectShape = object(
  {
    spdxVersion: required,
    SPDXID: id,
    name: required,
    dataLicense: required,
    documentNamespace: field(text()),
    creationInfo: field(
      object({
        created: required,
        creators: field(
          list(() => text(), { itemsMin: 1 }),
          { required: [3, 3] },
        ),
        comment: field(opaque),
      }),
      { required: always },
    ),
    documentDescribes: field(list(() => text())),
    packages: field(list(() => packageShape)),
    files: field(list(() => element)),
    snippets: field(list(() => element)),
    relationships: field(list(() => relationship)),
  },
  { identity: () => "SPDXID" },
);
