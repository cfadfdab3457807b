/** What stands in place of a secret. */
export const REDACTION_MARK = '[redacted]';
