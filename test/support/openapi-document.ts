/** A JSON object of an OpenAPI document. */
export type Part = Record<string, unknown>;

const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch']);

export interface Operation {
  /** `GET /path`. */
  name: string;
  method: string;
  path: string;
  part: Part;
}

/** Every operation of a document. */
export function operationsOf(document: Part): Operation[] {
  return entriesOf(document['paths']).flatMap(([path, operations]) =>
    entriesOf(operations).map(([method, part]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method,
      path,
      part: part as Part,
    })),
  );
}

/** What is structurally wrong with an OpenAPI 3.1 document, each with its place; schemas themselves are for a validator. */
export function structureProblems(document: Part): string[] {
  const operations = operationsOf(document);
  const ids = operations.map(({ part }) => part['operationId']);
  return [
    ...(/^3\.1\.\d+$/.test(textOf(document['openapi'])) ? [] : ['openapi is not 3.1']),
    ...(textOf(partOf(document['info'])['title']) && textOf(partOf(document['info'])['version']) ? [] : ['no info']),
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `operationId twice: ${String(id)}`),
    ...operations.flatMap((operation) => operationProblems(operation, document)),
    ...memberProblems(document, document, '#'),
  ];
}

function operationProblems({ name, method, path, part }: Operation, document: Part): string[] {
  const problems: string[] = [];
  const need = (condition: boolean, what: string): void => {
    if (!condition) problems.push(`${name}: ${what}`);
  };
  need(METHODS.has(method), 'not a method');
  need(/^[A-Za-z]\w+$/.test(textOf(part['operationId'])), 'no operationId');
  need(textOf(part['summary']).length > 3, 'no summary');
  need(Array.isArray(part['tags']) && part['tags'].length > 0, 'no tags');
  const schemes = partOf(partOf(document['components'])['securitySchemes']);
  need(Array.isArray(part['security']), 'no security');
  for (const requirement of listOf(part['security'])) {
    for (const [scheme] of entriesOf(requirement)) need(scheme in schemes, `unknown security scheme ${scheme}`);
  }
  const parameters = listOf(part['parameters']).map(partOf);
  const inPath = parameters.filter((parameter) => parameter['in'] === 'path');
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
  need(inPath.map((parameter) => parameter['name']).join() === named.join(), 'path parameters differ');
  need(
    inPath.every((parameter) => parameter['required'] === true),
    'an optional path parameter',
  );
  need(
    parameters.every((parameter) => isPart(parameter['schema'])),
    'a parameter without a schema',
  );
  const body = part['requestBody'];
  if (body !== undefined) {
    const content = entriesOf(partOf(body)['content']);
    need(content.length > 0 && content.every(([, media]) => hasSchema(media)), 'a body without a schema');
  }
  const responses = entriesOf(part['responses']);
  need(responses.some(([status]) => status.startsWith('2')) || responses.length > 0, 'no success');
  for (const [status, response] of responses) {
    need(/^[2-5]\d\d$/.test(status), `not a status: ${status}`);
    need(textOf(partOf(response)['description']) !== '', `${status} has no description`);
    const content = entriesOf(partOf(response)['content']);
    // only these two have an empty body
    need(status === '204' || status === '202' ? content.length === 0 : content.length > 0, `${status} has no content`);
    need(
      content.every(([, media]) => hasSchema(media)),
      `${status} has no schema`,
    );
    const problem = Number(status) >= 400 && !path.startsWith('/health/');
    // an MCP client reads errors of JSON-RPC only
    const errorType = /-3\d{4}/.test(textOf(partOf(response)['description']))
      ? 'application/json'
      : 'application/problem+json';
    need(!problem || content.some(([type]) => type === errorType), `${status} is no problem`);
  }
  return problems;
}

/** References that lead nowhere, and what 3.1 no longer knows. */
function memberProblems(value: unknown, document: Part, place: string): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((entry, index) => memberProblems(entry, document, `${place}/${index}`));
  }
  if (!isPart(value)) return [];
  const problems: string[] = [];
  const { $ref: reference, nullable } = value;
  if (typeof reference === 'string' && resolve(document, reference) === undefined) {
    problems.push(`${place}: ${reference} leads nowhere`);
  }
  if (typeof nullable === 'boolean') problems.push(`${place}: nullable is not of OpenAPI 3.1`);
  const members = Object.entries(value);
  return [...problems, ...members.flatMap(([name, member]) => memberProblems(member, document, `${place}/${name}`))];
}

function resolve(document: Part, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  let found: unknown = document;
  for (const step of reference.slice(2).split('/')) {
    found = isPart(found) ? found[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return found;
}

function hasSchema(media: unknown): boolean {
  const { schema } = partOf(media);
  return isPart(schema) && Object.keys(schema).length > 0;
}

export function entriesOf(value: unknown): [string, unknown][] {
  return Object.entries(partOf(value));
}

export function partOf(value: unknown): Part {
  return isPart(value) ? value : {};
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
