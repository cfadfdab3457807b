import { BooleanField, TextField } from '../field.decorators.js';

/** RFC 9110 token: what a header name may consist of. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** Any text that is not control characters; names are data and stay as spelled. */
export const PRINTABLE = /^[^\p{Cc}\p{Surrogate}]*$/u;
export const PRINTABLE_HINT = 'must not contain control characters';

/** At three bytes a UTF-16 unit this stays below the 128 KiB that Linux allows one variable. */
const MAX_ENVIRONMENT_VALUE = 32_768;
/** Half of what common servers accept for all headers together. */
export const MAX_HEADER_VALUE = 8_192;
const MAX_QUERY_VALUE = 8_192;

const VALUE = 'Write-only; left out: the stored value stays';
const CONFIGURED = 'As answered; ignored here, so that an answered list can be sent back';

/** One environment variable of a stdio provider. */
export class EnvironmentVariableBody {
  @TextField({
    min: 1,
    max: 128,
    pattern: ENVIRONMENT_NAME,
    patternHint: 'must be letters, digits and _, not beginning with a digit',
  })
  name: string;

  @TextField({
    optional: true,
    nullable: true,
    max: MAX_ENVIRONMENT_VALUE,
    secret: true,
    description: `${VALUE}; may be empty`,
  })
  value?: string | null;

  @BooleanField({ optional: true, description: CONFIGURED })
  configured?: boolean;
}

/** One secret header of an HTTP provider. */
export class HeaderBody {
  @TextField({ min: 1, max: 128, pattern: HEADER_NAME, patternHint: 'must be a header name: letters, digits and -' })
  name: string;

  @TextField({ optional: true, nullable: true, max: MAX_HEADER_VALUE, secret: true, description: VALUE })
  value?: string | null;

  @BooleanField({ optional: true, description: CONFIGURED })
  configured?: boolean;
}

/** One secret query parameter of an HTTP provider. */
export class QueryParameterBody {
  @TextField({ min: 1, max: 128, pattern: PRINTABLE, patternHint: PRINTABLE_HINT })
  name: string;

  @TextField({ optional: true, nullable: true, max: MAX_QUERY_VALUE, secret: true, description: VALUE })
  value?: string | null;

  @BooleanField({ optional: true, description: CONFIGURED })
  configured?: boolean;
}
