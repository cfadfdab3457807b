import type { ErrorObject } from 'ajv';
import { isJsonObject, type JsonObject } from './json-object.js';

/** Errors looked at; what comes after them would not be told anyway. */
const MAX_ERRORS = 200;

/**
 * The errors of failed `anyOf` and `oneOf` branches arrive before the error of the keyword itself. Of each such keyword
 * this keeps the errors of the one branch that was clearly meant, or else only the keyword's own error.
 */
export function closestAlternative(errors: readonly ErrorObject[], root: JsonObject): ErrorObject[] {
  let kept = errors.slice(0, MAX_ERRORS);
  // Inner keywords come first, so an outer choice sees what its inner ones have become.
  for (const choice of kept) {
    if ((choice.keyword !== 'anyOf' && choice.keyword !== 'oneOf') || !kept.includes(choice)) continue;
    const branches = branchErrors(choice, kept, root);
    const meant = meantBranch(choice, branches);
    const dropped = new Set(branches.flat());
    if (meant !== undefined) {
      for (const error of meant) dropped.delete(error);
      dropped.add(choice);
    }
    kept = kept.filter((error) => !dropped.has(error));
  }
  return kept;
}

/** Errors of each branch, found by the schema they come from: a part of the branch or of what it refers to. */
function branchErrors(choice: ErrorObject, errors: readonly ErrorObject[], root: JsonObject): ErrorObject[][] {
  const before = errors.slice(0, errors.indexOf(choice));
  const inside = before.filter(({ instancePath }) => `${instancePath}/`.startsWith(`${choice.instancePath}/`));
  const branches: unknown[] = Array.isArray(choice.schema) ? choice.schema : [];
  return branches.map((branch, index) => {
    const parts = partsOf(branch, root);
    const path = `${choice.schemaPath}/${index}/`;
    return inside.filter((error) => parts.has(error.parentSchema) || error.schemaPath.startsWith(path));
  });
}

/** All objects of a schema, and those of the schemas it refers to. */
function partsOf(schema: unknown, root: JsonObject): Set<unknown> {
  const parts = new Set<unknown>();
  const pending = [schema];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next !== 'object' || next === null || parts.has(next)) continue;
    parts.add(next);
    for (const member of Object.values(next)) pending.push(member);
    if (isJsonObject(next) && typeof next.$ref === 'string') pending.push(resolveLocally(next.$ref, root));
  }
  return parts;
}

function resolveLocally(reference: string, root: JsonObject): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let target: unknown = root;
  for (const segment of reference.slice(2).split('/')) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name)) return undefined;
    target = (target as JsonObject)[name];
  }
  return target;
}

/** The branch that fits in kind and is alone in that, or undefined. */
function meantBranch(choice: ErrorObject, branches: readonly ErrorObject[][]): ErrorObject[] | undefined {
  const fitting = branches.filter(
    (branch) => branch.length > 0 && !branch.some((error) => differsInKind(error, choice)),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Another type, or another fixed value of a member such as `type`, says that the branch was not meant. */
function differsInKind(error: ErrorObject, choice: ErrorObject): boolean {
  if (error.keyword === 'type') return error.instancePath === choice.instancePath;
  const depth = error.instancePath.slice(choice.instancePath.length).split('/').length - 1;
  const isFixed = error.keyword === 'const' || (error.keyword === 'enum' && hasOneValue(error.params));
  return isFixed && depth <= 1;
}

function hasOneValue({ allowedValues }: JsonObject): boolean {
  return Array.isArray(allowedValues) && allowedValues.length === 1;
}
