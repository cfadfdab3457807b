import ts from 'typescript';
import { isSpec, isTest } from './rooms.js';
import { lineOf, walk, type SourceFile } from './source-file.js';
import type { Violation } from './violation.js';

/** What somebody outside reads; test/output-sinks.e2e-spec.ts gives each of them every secret. */
export type OutputSink =
  | 'REST answers'
  | 'REST menu'
  | 'REST problems'
  | 'unreadable requests'
  | 'MCP results'
  | 'MCP event streams'
  | 'MCP errors'
  | 'log'
  | 'command line'
  | 'database'
  | 'data directory';

/** A way by which text leaves the process, and the only files that may use it. */
interface OutputPlace {
  what: string;
  /** What is read of it. */
  sinks: readonly OutputSink[];
  files: RegExp;
  used: (node: ts.Node) => boolean;
}

/** Members of a reply's connection that only look. */
const LOOKS = new Set(['writableFinished', 'writableNeedDrain', 'destroyed', 'once']);
const FILE_WRITERS = /^(writeFile|appendFile|write|writev|copyFile|createWriteStream|open|openSync|cp|cpSync)(Sync)?$/;
const FILE_MODULES = /^(node:)?fs(\/promises)?$/;
const NETWORK_MODULES = /^(node:)?(net|tls|http|https|http2|dgram|inspector|inspector\/promises|repl|worker_threads)$/;

/**
 * Everywhere the product writes something that somebody outside may read. Each place sends what it writes through the
 * redactor, or writes nothing that came from outside.
 */
export const OUTPUT_PLACES: OutputPlace[] = [
  {
    what: 'the standard streams',
    sinks: ['log', 'command line'],
    files: /^src\/(logger|cli\/warren)\.ts$/,
    used: (node) =>
      isMember(node, 'process', /^(stdout|stderr|emitWarning)$/) ||
      importsNamed(node, /^(node:)?process$/, /^(stdout|stderr|emitWarning|default|\*)$/),
  },
  {
    what: 'the connection under a reply',
    sinks: ['MCP results', 'MCP event streams', 'MCP errors'],
    files: /^src\/runtime\/mcp\.(exchanges|reply|event-stream)\.ts$/,
    used: (node) =>
      writesRaw(node) ||
      (ts.isPropertyAccessExpression(node) && node.name.text === 'hijack') ||
      importsNamed(node, /^(node:)?http2?$/, /^(ServerResponse|Http2ServerResponse|\*|default)$/),
  },
  {
    what: 'a reply that is no text',
    sinks: ['REST answers', 'REST menu', 'REST problems', 'unreadable requests'],
    files: /^$/,
    used: (node) => importsNamed(node, /^@nestjs\/common$/, /^(StreamableFile|Sse|Render)$/),
  },
  {
    what: 'a file',
    sinks: ['data directory'],
    files:
      /^src\/(openapi-writer|secret-key-file|embedded-postgres[\w.-]*|process-start|cli\/kept-token|connections\/legacy-events\.file)\.ts$/,
    used: (node) => importsNamed(node, FILE_MODULES, new RegExp(`${FILE_WRITERS.source}|^(\\*|default)$`)),
  },
  {
    what: 'a socket or a server',
    sinks: [],
    files: /^src\/(safe-fetch[\w.-]*|embedded-postgres\.lock|config\.variables)\.ts$/,
    used: (node) => importsNamed(node, NETWORK_MODULES, /./),
  },
  {
    // SQL outside of repositories is a rule of its own
    what: 'the database',
    sinks: ['database'],
    files: /\.repository\.ts$/,
    used: () => false,
  },
];

/** The product writes to the outside in few places, so that none is forgotten by the redactor. */
export function checkOutputs(file: SourceFile): Violation[] {
  if (isTest(file.path) || isSpec(file.path)) return [];
  const found: Violation[] = [];
  for (const { what, files, used } of OUTPUT_PLACES) {
    if (files.test(file.path)) continue;
    walk(file.ast, (node) => {
      if (!used(node)) return;
      found.push({ rule: 'output', file: file.path, detail: `line ${lineOf(file, node)} writes to ${what}` });
    });
  }
  return found;
}

function isMember(node: ts.Node, object: string, names: RegExp): boolean {
  if (ts.isBindingElement(node)) {
    const declaration = node.parent.parent;
    const from = ts.isVariableDeclaration(declaration) ? declaration.initializer?.getText() : undefined;
    return from === object && names.test((node.propertyName ?? node.name).getText());
  }
  if (ts.isPropertyAccessExpression(node)) {
    return isObject(node.expression, object) && names.test(node.name.text);
  }
  if (!ts.isElementAccessExpression(node) || !isObject(node.expression, object)) return false;
  return !ts.isStringLiteralLike(node.argumentExpression) || names.test(node.argumentExpression.text);
}

function isObject(node: ts.Expression, name: string): boolean {
  const text = node.getText();
  return text === name || text === `globalThis.${name}`;
}

/** A reply's or request's own connection, in any use but a look. */
function writesRaw(node: ts.Node): boolean {
  if (ts.isBindingElement(node)) return (node.propertyName ?? node.name).getText() === 'raw' && isOfReply(node);
  if (!ts.isPropertyAccessExpression(node) || node.name.text !== 'raw') return false;
  if (!/^(\w+\.)*(reply|request|response)$/i.test(node.expression.getText())) return false;
  const { parent } = node;
  return !(ts.isPropertyAccessExpression(parent) && parent.expression === node && LOOKS.has(parent.name.text));
}

function isOfReply(node: ts.BindingElement): boolean {
  const declaration = node.parent.parent;
  if (ts.isVariableDeclaration(declaration))
    return /reply|request|response/i.test(declaration.initializer?.getText() ?? '');
  return ts.isParameter(declaration) && /Reply|Request|Response/.test(declaration.type?.getText() ?? '');
}

/** Whether this imports, by value, one of these names from one of these modules; `*` and `default` for the whole. */
function importsNamed(node: ts.Node, module: RegExp, names: RegExp): boolean {
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [specifier] = node.arguments;
    return specifier !== undefined && ts.isStringLiteralLike(specifier) && module.test(specifier.text);
  }
  if (!ts.isImportDeclaration(node) || !ts.isStringLiteral(node.moduleSpecifier)) return false;
  if (!module.test(node.moduleSpecifier.text)) return false;
  const clause = node.importClause;
  if (clause === undefined || clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return false;
  if (clause.name !== undefined && names.test('default')) return true;
  const bindings = clause.namedBindings;
  if (bindings === undefined) return false;
  if (ts.isNamespaceImport(bindings)) return names.test('*');
  return bindings.elements.some(
    (element) => !element.isTypeOnly && names.test((element.propertyName ?? element.name).text),
  );
}
