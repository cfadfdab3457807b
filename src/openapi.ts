import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { documentBodyProblems } from './route.problems.js';
import { ProblemAnswer } from './problem.answer.js';
import { version } from './version.js';

/** The OpenAPI 3.1 document of every route. */
export function createOpenApi(application: INestApplication): OpenAPIObject {
  const bearer = (description: string): { type: 'http'; scheme: 'bearer'; description: string } => ({
    type: 'http',
    scheme: 'bearer',
    description,
  });
  const outline = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Warren')
    .setDescription('Tools for agents: connections, catalogs, exact grants, and one stable menu.')
    .setVersion(version)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addSecurity('operatorKey', bearer('Operator key, `wop_…`'))
    .addSecurity('agentToken', bearer('Agent token, `wag_…`'))
    .build();
  const document = SwaggerModule.createDocument(application, outline, {
    extraModels: [ProblemAnswer],
    operationIdFactory: (controller, method) => `${controller.replace(/Controller$/, '')}_${method}`,
  });
  documentBodyProblems(document, { $ref: `#/components/schemas/${ProblemAnswer.name}` });
  return withoutNullable(document) as OpenAPIObject;
}

/** `/openapi.json`, and pages to browse it at `/docs`. */
export function serveDocumentation(application: INestApplication, document: OpenAPIObject): void {
  SwaggerModule.setup('docs', application, document, {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'Warren API',
  });
}

/** OpenAPI 3.1 is JSON Schema 2020-12, which says `null` as a type, not as a flag. */
function withoutNullable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullable);
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutNullable(member)]),
  );
  if (typeof nullable !== 'boolean') return nullable === undefined ? rest : { nullable, ...rest };
  if (!nullable) return rest;
  if (typeof rest.type === 'string') {
    return {
      ...rest,
      type: [rest.type, 'null'],
      ...(Array.isArray(rest.enum) ? { enum: [...(rest.enum as unknown[]), null] } : {}),
    };
  }
  return { anyOf: [rest, { type: 'null' }] };
}
