import { Injectable } from '@nestjs/common';
import { SchemaCompiler } from '../catalog/schema-compiler.js';
import type { StoredTool } from '../catalog/stored-tool.js';
import { checkTool } from '../catalog/tool-definition.js';
import { CallFailure } from './call-failure.js';

const MAX_ERRORS = 10;
/** A longer schema is not shown with an error, characters as JSON. */
const MAX_SHOWN_SCHEMA = 16_000;

/** Arguments of a call against the schema of its tool. */
@Injectable()
export class ToolArguments {
  constructor(private readonly schemas: SchemaCompiler) {}

  /**
   * Errors: `CallFailure` mcp_arguments_invalid, with what is wrong and the schema to follow. A schema that could not be
   * compiled checks nothing.
   */
  check(tool: StoredTool, args: Record<string, unknown>): void {
    const checked = checkTool(tool.definition);
    if ('skipped' in checked) return;
    const schema = this.schemas.forDefinition(tool.definitionHash, checked.tool.inputSchema);
    if ('unchecked' in schema) return;
    const errors = schema.validate(args).slice(0, MAX_ERRORS);
    if (errors.length === 0) return;
    const inputSchema = this.shownSchema(tool);
    throw new CallFailure('mcp_arguments_invalid', `The arguments do not fit the inputSchema of ${tool.name}.`, {
      errors,
      ...(inputSchema === undefined ? {} : { inputSchema }),
      hint: 'Correct the arguments named in errors, following inputSchema, and call again.',
    });
  }

  /** The schema as it is shown with an error; undefined when it is too long for that. */
  shownSchema({ definition }: StoredTool): Record<string, unknown> | undefined {
    const checked = checkTool(definition);
    if ('skipped' in checked) return undefined;
    const { inputSchema } = checked.tool;
    return JSON.stringify(inputSchema).length <= MAX_SHOWN_SCHEMA ? inputSchema : undefined;
  }
}
