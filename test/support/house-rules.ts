import ts from 'typescript';
import { isSpec, isTest } from './rooms.js';
import { lineOf, walk, type SourceFile } from './source-file.js';
import type { Rule, Violation } from './violation.js';

const MAX_LINES = 300;
const NAMELESS = new Set(['util', 'utils', 'helper', 'helpers', 'common']);

/** The rules that concern one file alone, whatever room it stands in. */
export function checkHouseRules(file: SourceFile): Violation[] {
  const checks = [
    checkEnvironment,
    checkConsole,
    checkBarrel,
    checkNames,
    checkForwardRef,
    checkLength,
    checkAssertions,
  ];
  return checks.flatMap((check) => check(file));
}

function checkEnvironment(file: SourceFile): Violation[] {
  if (isTest(file.path) || isSpec(file.path) || /^src\/config[\w.-]*\.ts$/.test(file.path)) return [];
  return report(file, 'environment', 'reads the environment', (node) => {
    if (ts.isImportSpecifier(node)) {
      const source = node.parent.parent.parent.moduleSpecifier;
      return (node.propertyName ?? node.name).text === 'env' && /^(node:)?process$/.test(textOf(source));
    }
    if (ts.isBindingElement(node)) {
      const declaration = node.parent.parent;
      const initializer = ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined;
      return (node.propertyName ?? node.name).getText() === 'env' && isNamed(initializer, 'process');
    }
    return memberOf(node, 'process') === 'env';
  });
}

function checkConsole(file: SourceFile): Violation[] {
  if (/^(src\/cli|bench|scripts)\//.test(file.path)) return [];
  return report(file, 'console', 'writes to the console', (node) => memberOf(node, 'console') !== undefined);
}

function checkBarrel(file: SourceFile): Violation[] {
  const { statements } = file.ast;
  const passes = (node: ts.Statement): boolean =>
    ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || isExportedName(node);
  const star = statements.some((node) => ts.isExportDeclaration(node) && node.moduleSpecifier && !node.exportClause);
  const exportsFrom =
    file.imports.some(({ target }) => target) && statements.some((node) => !ts.isImportDeclaration(node));
  const barrel = star || (exportsFrom && statements.every(passes));
  return barrel ? [{ rule: 'barrel', file: file.path, detail: 'only passes on what other files export' }] : [];
}

function checkNames({ path }: SourceFile): Violation[] {
  const words = path.split('/').map((part) => part.replace(/\..*$/, ''));
  const nameless = words.find((word) => NAMELESS.has(word));
  return nameless ? [{ rule: 'folder-name', file: path, detail: `${nameless} names nothing` }] : [];
}

function checkForwardRef(file: SourceFile): Violation[] {
  return report(file, 'forward-ref', 'uses forwardRef', (node) => isNamed(node, 'forwardRef'));
}

function checkLength({ path, ast }: SourceFile): Violation[] {
  const lines = ast.text.split('\n').length - (ast.text.endsWith('\n') ? 1 : 0);
  return lines > MAX_LINES ? [{ rule: 'file-length', file: path, detail: `${lines} lines, over ${MAX_LINES}` }] : [];
}

/** A non-null `!` in the product needs its reason in a comment on its line or the line above. */
function checkAssertions(file: SourceFile): Violation[] {
  if (isTest(file.path) || isSpec(file.path)) return [];
  const lines = file.ast.text.split('\n');
  return report(file, 'bare-assertion', 'asserts `!` without a reason beside it', (node) => {
    if (!ts.isNonNullExpression(node)) return false;
    const line = file.ast.getLineAndCharacterOfPosition(node.getEnd()).line;
    return ![lines[line], lines[line - 1]].some((text) => text !== undefined && /\/\/|\*\//.test(text));
  });
}

function report(file: SourceFile, rule: Rule, detail: string, broken: (node: ts.Node) => boolean): Violation[] {
  const found: Violation[] = [];
  walk(file.ast, (node) => {
    if (broken(node)) found.push({ rule, file: file.path, detail: `line ${lineOf(file, node)} ${detail}` });
  });
  return found;
}

/** The member read from the global `object`, as `object.member` or `object['member']`. */
function memberOf(node: ts.Node, object: string): string | undefined {
  if (ts.isPropertyAccessExpression(node) && isGlobal(node.expression, object)) return node.name.text;
  if (ts.isElementAccessExpression(node) && isGlobal(node.expression, object)) return textOf(node.argumentExpression);
  return undefined;
}

function isGlobal(node: ts.Expression, name: string): boolean {
  if (isNamed(node, name)) return true;
  return ts.isPropertyAccessExpression(node) && isNamed(node.expression, 'globalThis') && node.name.text === name;
}

function isNamed(node: ts.Node | undefined, name: string): boolean {
  return node !== undefined && ts.isIdentifier(node) && node.text === name;
}

function textOf(node: ts.Node): string {
  return ts.isStringLiteralLike(node) ? node.text : node.getText();
}

function isExportedName(node: ts.Statement): boolean {
  return ts.isExportAssignment(node) && ts.isIdentifier(node.expression);
}
