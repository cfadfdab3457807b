import { posix } from 'node:path';
import ts from 'typescript';

/** One import, export-from, `import()`, `require()` or import type of a source file. */
export interface SourceImport {
  /** As written, such as `../config.js` or `undici`. */
  specifier: string;
  /** Path from the root of the repository when the specifier is relative. */
  target?: string;
  /** Package name (`@scope/name`, `node:fs`) when it is not. */
  packageName?: string;
  /** True when nothing of it is left at run time. */
  typeOnly: boolean;
}

/** A parsed source file; `path` is relative to the root of the repository, with forward slashes. */
export interface SourceFile {
  path: string;
  ast: ts.SourceFile;
  imports: SourceImport[];
}

/** Parses one file and lists what it imports, by the compiler's own parser so that no spelling is missed. */
export function readSourceFile(path: string, text: string): SourceFile {
  const ast = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS);
  const imports: SourceImport[] = [];
  walk(ast, (node) => {
    const found = importOf(node);
    if (found) imports.push({ ...found, ...resolve(path, found.specifier) });
  });
  return { path, ast, imports };
}

/** Calls `visit` for `node` and every node below it. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** 1-based line of a node's first character. */
export function lineOf(file: SourceFile, node: ts.Node): number {
  return file.ast.getLineAndCharacterOfPosition(node.getStart(file.ast)).line + 1;
}

function importOf(node: ts.Node): Pick<SourceImport, 'specifier' | 'typeOnly'> | undefined {
  if (ts.isImportDeclaration(node)) return named(node.moduleSpecifier, isTypeOnlyImport(node.importClause));
  if (ts.isExportDeclaration(node)) return named(node.moduleSpecifier, isTypeOnlyExport(node));
  if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
    return named(node.moduleReference.expression, node.isTypeOnly);
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return named(node.argument.literal, true);
  if (ts.isCallExpression(node) && loadsModule(node.expression)) return named(node.arguments[0], false);
  return undefined;
}

function loadsModule(callee: ts.Expression): boolean {
  return callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require');
}

function named(
  specifier: ts.Node | undefined,
  typeOnly: boolean,
): { specifier: string; typeOnly: boolean } | undefined {
  return specifier && ts.isStringLiteralLike(specifier) ? { specifier: specifier.text, typeOnly } : undefined;
}

function isTypeOnlyImport(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { name, namedBindings } = clause;
  if (name || !namedBindings || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.length > 0 && namedBindings.elements.every((element) => element.isTypeOnly);
}

function isTypeOnlyExport({ isTypeOnly, exportClause }: ts.ExportDeclaration): boolean {
  if (isTypeOnly) return true;
  if (!exportClause || !ts.isNamedExports(exportClause)) return false;
  return exportClause.elements.length > 0 && exportClause.elements.every((element) => element.isTypeOnly);
}

function resolve(from: string, specifier: string): Pick<SourceImport, 'target' | 'packageName'> {
  if (specifier.startsWith('.')) {
    return { target: posix.join(posix.dirname(from), specifier).replace(/\.js$/, '.ts') };
  }
  return { packageName: specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/') };
}
