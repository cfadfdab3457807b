export type CatalogWarningCode =
  | 'annotations_invalid'
  | 'cursor_repeated'
  | 'definition_too_deep'
  | 'definition_too_large'
  | 'description_invalid'
  | 'duplicate_name'
  | 'input_schema_invalid'
  | 'more_warnings'
  | 'name_invalid'
  | 'name_too_long'
  | 'output_schema_invalid'
  | 'parameter_header_invalid'
  | 'schema_unchecked'
  | 'title_invalid'
  | 'tool_invalid';

/** One remark of a discovery. `tool` names the tool meant, made printable and cut, so it may differ from its exact name. */
export interface CatalogWarning {
  tool?: string;
  code: CatalogWarningCode;
  message: string;
}

const MAX_WARNINGS = 200;
const MAX_SHOWN_NAME = 128;

/** Makes a warning; a name in it is shown without control characters and lone surrogates, cut at 128 characters. */
export function catalogWarning(code: CatalogWarningCode, message: string, toolName?: string): CatalogWarning {
  if (toolName === undefined) return { code, message };
  const cut = toolName.length > MAX_SHOWN_NAME ? `${toolName.slice(0, MAX_SHOWN_NAME - 1)}…` : toolName;
  return { tool: cut.replaceAll(/[\p{Cc}\p{Cs}]/gu, '\u{FFFD}'), code, message };
}

/** Keeps the first 200 warnings; of the rest only their number, as a last entry `more_warnings`. */
export function limitWarnings(warnings: readonly CatalogWarning[]): CatalogWarning[] {
  if (warnings.length <= MAX_WARNINGS) return [...warnings];
  const more = warnings.length - MAX_WARNINGS;
  return [...warnings.slice(0, MAX_WARNINGS), catalogWarning('more_warnings', `${more} more warnings are not shown`)];
}
