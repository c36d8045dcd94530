/** All code on the event loop that reads a text from outside, as functions of the text. */
import { endpoints } from "../../../src/control-api/endpoints.ts";
import { checkFields } from "../../../src/control-api/endpoint.ts";
import { parseBaseUrl } from "../../../src/http/public-address.ts";
import { readListQuery, readPageQuery, readSince } from "../../../src/connectors/catalog/read-parameters.ts";
import { checkChat } from "../../../src/gateway/api/request/chat-request.ts";
import { supportWords } from "../../../src/gateway/api/request/requested-model.ts";
import { checkInput } from "../../../src/security/operation.ts";
import { readRepository } from "../../../src/security/repositories/read-repository.ts";
import { parseRepositoryAddress } from "../../../src/security/repositories/import-repository.ts";
import { parseSbomField } from "../../../src/security/sboms/sbom-field.ts";
import { operations } from "../../../src/security/api/operations.ts";
import { credentialCharactersMax } from "../../../src/connectors/limits.ts";
import { repositoryAddressCharactersMax, sbomReadHereBytesMax } from "../../../src/security/limits.ts";
import { ecosystems } from "../../../src/security/versions/ecosystem.ts";
import { versionToMatch } from "../../../src/security/versions/version-to-match.ts";
import { readVersion } from "../../../src/security/versions/version.ts";
import { samples } from "../../security/lockfiles/samples.ts";
import { chatModel } from "../../support/providers/model.ts";
import { bomJson, bomXml, spdx3Json, spdxJson, spdxTagValue } from "../../support/security/sbom-documents.ts";
import type { Dice } from "../bodies/dice.ts";
import { validBody } from "../bodies/valid-body.ts";
import { replaceEachText } from "./replace-each-text.ts";
import type { HostileText } from "./hostile-texts.ts";

/** The length of a text whose body is somewhat below 1 MiB. */
const bodyCharacters = 1_000_000;
/** The longest query that fits into a request's head. */
const queryCharacters = 16_000;

export interface Sink {
  name: string;
  /** Runs that are made one after another. Each may block the thread for 50 ms. */
  runs(text: HostileText, dice: Dice): Iterable<() => unknown>;
}

const encoder = new TextEncoder();
const bytesOf = (value: unknown) => encoder.encode(typeof value === "string" ? value : JSON.stringify(value));

/** SBOMs of the largest size that is read on the event loop. */
function* sbomRuns(document: unknown, text: HostileText): Generator<() => unknown> {
  const room = sbomReadHereBytesMax - bytesOf(document).length - 200;
  for (const one of replaceEachText(document, fitted(text, room))) {
    yield () => parseSbomField({ bytes: bytesOf({ project: "p", sbom: one }), path: ["sbom"] });
    yield () => parseSbomField({ bytes: bytesOf(one), path: null });
  }
}

/** Puts the hostile text in place of each word of a document, and after it. */
function* textRuns(document: string, text: HostileText, read: (hostile: string) => unknown): Generator<() => unknown> {
  const hostile = fitted(text, sbomReadHereBytesMax - document.length);
  for (const { index, 0: word } of document.matchAll(/[\w.@/:^=-]+/g)) {
    const around = [document.slice(0, index), document.slice(index + word.length)] as const;
    yield () => read(around.join(hostile));
    yield () => read(around.join(word + hostile));
  }
}

/** Shortens the text so that its JSON fits into `room` bytes. */
function fitted(text: HostileText, room: number): string {
  const whole = text(room);
  const share = room / bytesOf(whole).length;
  return share >= 1 ? whole : text(Math.floor(room * share));
}

const model = chatModel(Object.keys(supportWords));

export const sinks: readonly Sink[] = [
  ...[bomJson("1.6"), spdxJson("2.3"), spdx3Json()].map((document): Sink => ({
    name: "an SBOM in JSON",
    runs: (text) => sbomRuns(document, text),
  })),
  ...[bomXml("1.6"), spdxTagValue("2.3")].map((document): Sink => ({
    name: "an SBOM in XML or as tags",
    runs: (text) => textRuns(document, text, (written) => parseSbomField({ bytes: bytesOf(written), path: null })),
  })),
  ...samples.map(([path, document]): Sink => ({
    name: path,
    runs: (text) =>
      textRuns(document, text, (written) => readRepository("r", { files: [{ path, bytes: bytesOf(written) }], refused: [] })),
  })),
  {
    name: "versions",
    *runs(text) {
      for (const ecosystem of ecosystems) {
        const version = text(sbomReadHereBytesMax);
        yield () => readVersion({ scheme: ecosystem, text: version });
        yield () => readVersion({ scheme: ecosystem, text: text(1_024) });
        yield () => versionToMatch({ ecosystem, version, purl: null });
        yield () => versionToMatch({ ecosystem, version: "1", purl: `pkg:gem/a@${text(4_000)}` });
      }
    },
  },
  ...operations.map(({ name, input }): Sink => ({
    name: `the tools operation ${name}`,
    *runs(text) {
      for (const field of [...Object.keys(input.properties), text(bodyCharacters)]) {
        for (const length of [bodyCharacters, 8_000]) yield () => checkInput(input, { [field]: text(length) });
      }
    },
  })),
  ...endpoints.map(({ method, path, fields }): Sink => ({
    name: `the control endpoint ${method} ${path}`,
    *runs(text) {
      for (const field of [...Object.keys(fields.properties), text(bodyCharacters)]) {
        yield () => checkFields(fields, { [field]: text(bodyCharacters) });
      }
    },
  })),
  {
    name: "a chat",
    *runs(text, dice) {
      const body = validBody(dice);
      for (const one of replaceEachText(body, fitted(text, bodyCharacters - bytesOf(body).length))) {
        yield () => checkChat(bytesOf(one), { find: () => model });
      }
      yield () => checkChat(bytesOf({ ...body, [fitted(text, bodyCharacters)]: 1 }), { find: () => model });
    },
  },
  {
    name: "queries and addresses",
    *runs(text) {
      const written = text(queryCharacters);
      for (const name of ["q", "category", "method", "limit", "page", "since", written]) {
        const query = () => new URLSearchParams({ [name]: written });
        yield () => readListQuery(query(), ["Ticketing"]);
        yield () => readPageQuery(query(), ["Ticketing"]);
        yield () => readSince(query());
      }
      yield () => parseBaseUrl(`https://${text(credentialCharactersMax)}`);
      const hosts = { github: "https://api.github.com", gitlab: "https://gitlab.com/api/v4" };
      yield () => parseRepositoryAddress(text(repositoryAddressCharactersMax), hosts);
    },
  },
];
