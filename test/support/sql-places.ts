import ts from 'typescript';
import { isSpec, isTest } from './rooms.js';
import { lineOf, walk, type SourceFile } from './source-file.js';
import type { Violation } from './violation.js';

/** Repositories, and the base files that open, describe and migrate the database. */
const SQL_PLACES = /\.repository\.ts$|^src\/(database[\w.-]*|migrator)\.ts$|^migrations\//;
const BUILDERS = new Set(['selectFrom', 'insertInto', 'replaceInto', 'updateTable', 'deleteFrom', 'mergeInto']);
const RUNNERS = new Set(['query', 'raw', 'executeQuery']);
const STATEMENT = /^\s*(select|insert|update|delete|merge|with|create|alter|drop|truncate|set|begin|listen|notify)\s/i;

/**
 * SQL is written in repositories only. Elsewhere nothing of kysely may be left at run time (its types may be named),
 * no query be built and no statement be handed to a driver.
 */
export function checkSql(file: SourceFile): Violation[] {
  const { path, imports, ast } = file;
  if (isTest(path) || isSpec(path) || SQL_PLACES.test(path)) return [];
  const found: Violation[] = [];
  if (imports.some(({ packageName, typeOnly }) => packageName === 'kysely' && !typeOnly)) {
    found.push({ rule: 'sql-outside-repository', file: path, detail: 'imports kysely' });
  }
  walk(ast, (node) => {
    if (buildsSql(node)) {
      found.push({ rule: 'sql-outside-repository', file: path, detail: `line ${lineOf(file, node)} builds a query` });
    }
  });
  return found;
}

function buildsSql(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const method = node.expression.name.text;
  const [first] = node.arguments;
  return BUILDERS.has(method) || (RUNNERS.has(method) && first !== undefined && STATEMENT.test(literalText(first)));
}

function literalText(node: ts.Expression): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  return ts.isTemplateExpression(node) ? node.head.text : '';
}
