import type { OpenAPIObject } from '@nestjs/swagger';
import { problemCatalogue, type ProblemCode } from './errors.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

/** What every request with a body can be refused with, whatever its route. */
const BODY_PROBLEMS = ['malformed_json', 'body_too_large', 'unsupported_media_type'] as const satisfies ProblemCode[];

/** How answers with one of these problem codes are described. */
export function describeProblems(codes: readonly ProblemCode[]): string {
  return codes.map((code) => `\`${code}\``).join(', ');
}

/** Adds what bodies can be refused with; which operations take one is known only once the document is complete. */
export function documentBodyProblems(document: OpenAPIObject, problemSchema: { $ref: string }): void {
  for (const path of Object.values(document.paths)) {
    for (const operation of [path.post, path.put, path.patch]) {
      if (operation?.requestBody !== undefined) addProblems(operation, problemSchema);
    }
  }
}

function addProblems({ responses }: Operation, schema: { $ref: string }): void {
  for (const code of BODY_PROBLEMS) {
    const { status } = problemCatalogue[code];
    const known = responses[status];
    const before = known !== undefined && 'description' in known ? (known.description ?? '') : '';
    const described = describeProblems([code]);
    if (before.includes(described)) continue;
    responses[status] = {
      description: before === '' ? described : `${before}, ${described}`,
      content: { 'application/problem+json': { schema } },
    };
  }
}
