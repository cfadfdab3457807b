/**
 * The one catalogue of REST errors. `code` is stable; clients may branch on it. Every error leaves as RFC 9457
 * `application/problem+json` (see `problem.filter.ts`).
 */
export const problemCatalogue = {
  malformed_request: { status: 400, title: 'The request is not HTTP that can be read' },
  malformed_json: { status: 400, title: 'The body is not valid JSON' },
  validation_failed: { status: 400, title: 'The request is not valid' },
  header_reserved: { status: 400, title: 'A reserved header name' },
  cursor_invalid: { status: 400, title: 'The cursor is not valid' },
  unauthenticated: { status: 401, title: 'Authentication required' },
  forbidden: { status: 403, title: 'Not allowed' },
  host_not_allowed: { status: 403, title: 'Host not allowed' },
  origin_not_allowed: { status: 403, title: 'Origin not allowed' },
  route_not_found: { status: 404, title: 'No such route' },
  connection_not_found: { status: 404, title: 'No such connection' },
  agent_not_found: { status: 404, title: 'No such agent' },
  token_not_found: { status: 404, title: 'No such token' },
  key_not_found: { status: 404, title: 'No such key' },
  call_not_found: { status: 404, title: 'No such call' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  not_acceptable: { status: 406, title: 'Not acceptable' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  connection_conflict: { status: 409, title: 'The connection id is taken' },
  connection_name_conflict: { status: 409, title: 'The connection name is taken' },
  agent_conflict: { status: 409, title: 'The agent id is taken' },
  limit_reached: { status: 409, title: 'A limit of this server is reached' },
  agent_disabled: { status: 409, title: 'The agent is disabled' },
  connection_disabled: { status: 409, title: 'The connection is disabled' },
  lifecycle_not_keep_alive: { status: 409, title: 'The connection is not keep_alive' },
  stale_revision: { status: 412, title: 'The resource changed meanwhile' },
  body_too_large: { status: 413, title: 'The body is too large' },
  uri_too_long: { status: 414, title: 'The path is too long' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  secret_value_required: { status: 422, title: 'A secret value is required' },
  secrets_required_for_new_origin: { status: 422, title: 'Secrets are required for the new origin' },
  auth_type_unsupported: { status: 422, title: 'The auth type is not supported' },
  immutable_field: { status: 422, title: 'The field cannot change' },
  stdio_not_allowed: { status: 422, title: 'stdio is not allowed here' },
  environment_variable_reserved: { status: 422, title: 'A reserved environment variable' },
  sealed_audience_unknown: { status: 422, title: 'The sealed audience names an unknown connection' },
  grant_unknown_connection: { status: 422, title: 'The grant names an unknown connection' },
  grant_unknown_tool: { status: 422, title: 'The grant names an unknown tool' },
  grant_unknown_agent: { status: 422, title: 'The grant names an unknown agent' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal_error: { status: 500, title: 'Internal error' },
  provider_unreachable: { status: 502, title: 'The provider could not be reached' },
  provider_timeout: { status: 504, title: 'The provider did not answer in time' },
  database_unavailable: { status: 503, title: 'The database is not available' },
  authorization_server_unavailable: { status: 503, title: 'The authorization server is not available' },
  revocation_timeout: { status: 503, title: 'Admissions in progress did not end in time' },
  busy: { status: 503, title: 'Too busy now' },
  shutting_down: { status: 503, title: 'The server is shutting down' },
} as const;

export type ProblemCode = keyof typeof problemCatalogue;

/** One offending field; `path` is dotted with indices, e.g. `headers[0].value`. */
export interface FieldProblem {
  path: string;
  message: string;
}

export interface ProblemOptions {
  errors?: FieldProblem[];
  /** Whole seconds for the `Retry-After` header. */
  retryAfterSeconds?: number;
  /** A stable provider failure reason, for `provider_unreachable`. */
  reason?: string;
  cause?: unknown;
}

/**
 * An error meant for a REST client. `detail` is shown as it stands: it never holds a secret, SQL, a path or a stack.
 */
export class ProblemError extends Error {
  readonly errors: FieldProblem[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly reason: string | undefined;

  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    options: ProblemOptions = {},
  ) {
    super(detail, { cause: options.cause });
    this.name = 'ProblemError';
    this.errors = options.errors;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.reason = options.reason;
  }

  get status(): number {
    return problemCatalogue[this.code].status;
  }
}

/** A `validation_failed` problem for one field. */
export function invalidField(path: string, message: string): ProblemError {
  return new ProblemError('validation_failed', `${path} ${message}`, { errors: [{ path, message }] });
}
