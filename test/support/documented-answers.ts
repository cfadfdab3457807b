import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { entriesOf, operationsOf, partOf, type Operation, type Part } from './openapi-document.js';

// the package is CommonJS: its default export is the module
const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void;

/** Where the schemas of the document are registered. */
const HOME = 'urn:warren:document';

/** Compares real answers with what an OpenAPI document says of them. */
export class DocumentedAnswers {
  private readonly ajv: Ajv2020;
  private readonly operations: Operation[];

  /** Errors: when a schema of the document is none. */
  constructor(document: Part) {
    this.ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, validateFormats: true });
    addFormats(this.ajv);
    this.ajv.addVocabulary(['x-warren-access']);
    const { schemas } = partOf(document['components']);
    this.ajv.addSchema({ $id: HOME, $defs: closed(atHome(schemas)) });
    this.operations = operationsOf(document);
  }

  /** Compiles every schema; returns what is wrong, each with its place. */
  schemaProblems(document: Part): string[] {
    const problems: string[] = [];
    for (const [place, schema] of schemasOf(document)) {
      try {
        this.compile(schema);
      } catch (error) {
        problems.push(`${place}: ${(error as Error).message}`);
      }
    }
    return problems;
  }

  /** What differs between an answer and its documentation. */
  differences(method: string, url: string, answer: { status: number; headers: Headers; body: unknown }): string[] {
    const path = url.split('?', 1)[0] ?? '';
    const operation = this.operations
      .filter((candidate) => candidate.method === method.toLowerCase())
      .toSorted((a, b) => countOf(a.path, '{') - countOf(b.path, '{'))
      .find((candidate) => new RegExp(`^${candidate.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path));
    if (operation === undefined) return [`${method} ${path} is not documented`];
    const responses = partOf(operation.part['responses']);
    const response = responses[answer.status];
    const name = `${operation.name} ${answer.status}`;
    if (response === undefined) return [`${name} is not documented`];
    const documented = Object.keys(partOf(partOf(response)['headers'])).filter((header) => !answer.headers.has(header));
    const headers = documented.map((header) => `${name}: no header ${header}`);
    const content = partOf(partOf(response)['content']);
    if (Object.keys(content).length === 0) return answer.body === undefined ? headers : [`${name}: a body`, ...headers];
    const type = (answer.headers.get('content-type') ?? '').split(';', 1)[0] ?? '';
    const { schema } = partOf(content[type]);
    if (schema === undefined) return [`${name}: ${type} is not documented`, ...headers];
    const validate = this.compile(schema as Part);
    if (validate(answer.body)) return headers;
    const errors = (validate.errors ?? []).map((error) => {
      const { instancePath, message = '', params } = error;
      return `${name}: ${instancePath} ${message} ${JSON.stringify(params)}`;
    });
    return [...errors, ...headers];
  }

  private compile(schema: Part): ValidateFunction {
    return this.ajv.compile(closed(atHome(schema) as Part));
  }
}

/** Every schema of a document with its place. */
function schemasOf(document: Part): [string, Part][] {
  const found = entriesOf(partOf(document['components'])['schemas']).map(([name, schema]): [string, Part] => [
    name,
    schema as Part,
  ]);
  const walk = (value: unknown, place: string): void => {
    for (const [name, member] of entriesOf(value)) {
      if (name === 'schema') found.push([place, member as Part]);
      else if (Array.isArray(member)) member.forEach((entry, index) => walk(entry, `${place}/${name}/${index}`));
      else walk(member, `${place}/${name}`);
    }
  };
  walk(document['paths'], '');
  return found;
}

/** References of a schema that stands alone lead into the registered document. */
function atHome(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(atHome);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === '$ref' && typeof member === 'string'
        ? member.replace('#/components/schemas', `${HOME}#/$defs`)
        : atHome(member),
    ]),
  );
}

/** The same schemas, taking no member that they do not name: an answer shows nothing undocumented. */
function closed(value: Part): Part;
function closed(value: unknown): unknown;
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member)]));
  const describesObject = 'properties' in value && 'type' in value && !('additionalProperties' in value);
  return describesObject ? { ...members, additionalProperties: false } : members;
}

function countOf(text: string, character: string): number {
  return text.split(character).length - 1;
}
