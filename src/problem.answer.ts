import { IntegerField, NestedField, TextField } from './field.decorators.js';

/** One offending field of a request. */
export class FieldProblemAnswer {
  @TextField({ max: 200, description: 'Dotted path with indices, e.g. headers[0].value' })
  path: string;

  @TextField({ max: 1_000 })
  message: string;
}

/** An RFC 9457 problem. */
export class ProblemAnswer {
  @TextField({ max: 200, description: 'URI of the kind of problem' })
  type: string;

  @TextField({ max: 200 })
  title: string;

  @IntegerField({ min: 400, max: 599 })
  status: number;

  @TextField({ max: 100, description: 'Stable snake_case code' })
  code: string;

  @TextField({ max: 2_000 })
  detail: string;

  @NestedField(() => FieldProblemAnswer, { optional: true, maxItems: 100 })
  errors?: FieldProblemAnswer[];

  @TextField({ max: 100, optional: true, description: 'Why a provider could not be reached' })
  reason?: string;

  @TextField({ max: 100, description: 'Find this request in the log by it' })
  requestId: string;
}
