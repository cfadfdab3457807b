/** Why an outbound request failed; the first nine are also the reasons of an unreachable provider. */
export type OutboundReason =
  | 'dns_failed'
  | 'egress_denied'
  | 'connection_refused'
  | 'connection_unreachable'
  | 'connection_timeout'
  | 'tls_verification_failed'
  | 'http_error'
  | 'message_too_large'
  | 'unknown'
  | 'redirect_refused'
  | 'admission_expired';

/** Whether bytes of the request may have reached the other side. */
export type OutboundSent = 'no' | 'maybe';

/**
 * The one error of outbound HTTP. Its text names at most host, port and path, never userinfo, query, fragment or a
 * header value.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';

  constructor(
    readonly reason: OutboundReason,
    message: string,
    readonly sent: OutboundSent = 'no',
  ) {
    super(message);
  }
}

const textOf: Record<OutboundReason, string> = {
  dns_failed: 'the host name could not be resolved',
  egress_denied: 'the address is not allowed',
  connection_refused: 'the connection was refused',
  connection_unreachable: 'the host cannot be reached',
  connection_timeout: 'no answer in time',
  tls_verification_failed: 'the TLS certificate could not be verified',
  http_error: 'the exchange broke off or was not valid HTTP',
  message_too_large: 'the answer is larger than allowed',
  redirect_refused: 'the redirect was refused',
  admission_expired: 'the admission expired before the request could be written',
  unknown: 'the request failed',
};

const reasonOfCode = new Map<string, OutboundReason>([
  ['ENOTFOUND', 'dns_failed'],
  ['ENODATA', 'dns_failed'],
  ['EAI_AGAIN', 'dns_failed'],
  ['EAI_FAIL', 'dns_failed'],
  ['EAI_NODATA', 'dns_failed'],
  ['EAI_NONAME', 'dns_failed'],
  ['ESERVFAIL', 'dns_failed'],
  ['ECONNREFUSED', 'connection_refused'],
  ['EHOSTUNREACH', 'connection_unreachable'],
  ['EHOSTDOWN', 'connection_unreachable'],
  ['ENETUNREACH', 'connection_unreachable'],
  ['ENETDOWN', 'connection_unreachable'],
  ['EADDRNOTAVAIL', 'connection_unreachable'],
  ['EACCES', 'connection_unreachable'],
  ['EPERM', 'connection_unreachable'],
  ['ETIMEDOUT', 'connection_timeout'],
  ['UND_ERR_CONNECT_TIMEOUT', 'connection_timeout'],
  ['UND_ERR_HEADERS_TIMEOUT', 'connection_timeout'],
  ['UND_ERR_BODY_TIMEOUT', 'connection_timeout'],
  ['UND_ERR_HEADERS_OVERFLOW', 'message_too_large'],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'message_too_large'],
  ['UND_ERR_SOCKET', 'http_error'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'http_error'],
  ['UND_ERR_INFO', 'http_error'],
  ['ECONNRESET', 'http_error'],
  ['ECONNABORTED', 'http_error'],
  ['EPIPE', 'http_error'],
  ['HTTPParserError', 'http_error'],
  ['bad port', 'egress_denied'],
  // OpenSSL's verdicts on a certificate chain; the others begin with one of the prefixes below.
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_verification_failed'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'tls_verification_failed'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'tls_verification_failed'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls_verification_failed'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_verification_failed'],
  ['INVALID_CA', 'tls_verification_failed'],
  ['INVALID_PURPOSE', 'tls_verification_failed'],
  ['PATH_LENGTH_EXCEEDED', 'tls_verification_failed'],
  ['HOSTNAME_MISMATCH', 'tls_verification_failed'],
]);

const reasonOfPrefix: readonly (readonly [string, OutboundReason])[] = [
  ['CERT_', 'tls_verification_failed'],
  ['ERR_TLS_', 'tls_verification_failed'],
  ['ERR_SSL_', 'tls_verification_failed'],
  ['EPROTO', 'tls_verification_failed'],
  ['HPE_', 'http_error'],
  // zlib's complaints about a broken content encoding.
  ['Z_', 'http_error'],
  ['ERR__ERROR_FORMAT', 'http_error'],
  ['ERR_BROTLI', 'http_error'],
];

/** Reasons that only arise before a request is written. */
const beforeWriting: ReadonlySet<OutboundReason> = new Set([
  'dns_failed',
  'egress_denied',
  'connection_refused',
  'connection_unreachable',
  'tls_verification_failed',
  'admission_expired',
]);

/**
 * Translates whatever undici, node:net, node:tls, node:dns or zlib threw, once, where it enters. Follows `cause` chains
 * and AggregateError. `sent` is what the caller knows about it; without it the reason decides. The text is ours: the
 * original may quote a URL or a header, so only its stable code is repeated.
 */
export function classifyOutboundError(error: unknown, sent?: OutboundSent, where?: string): OutboundError {
  for (const link of chainOf(error)) {
    if (link instanceof OutboundError) return withSent(link, sent);
    const code = codeOf(link);
    const reason = code === undefined ? undefined : reasonFor(code);
    if (code !== undefined && reason !== undefined) return described(reason, code, sent, where);
  }
  return described('unknown', undefined, sent, where);
}

function described(
  reason: OutboundReason,
  code: string | undefined,
  sent: OutboundSent | undefined,
  where: string | undefined,
): OutboundError {
  const place = where === undefined ? '' : `${where}: `;
  const detail = code === undefined ? '' : ` (${code})`;
  return new OutboundError(
    reason,
    `${place}${textOf[reason]}${detail}`,
    sent ?? (beforeWriting.has(reason) ? 'no' : 'maybe'),
  );
}

function withSent(error: OutboundError, sent: OutboundSent | undefined): OutboundError {
  return sent === undefined || sent === error.sent ? error : new OutboundError(error.reason, error.message, sent);
}

function reasonFor(code: string): OutboundReason | undefined {
  return reasonOfCode.get(code) ?? reasonOfPrefix.find(([prefix]) => code.startsWith(prefix))?.[1];
}

/**
 * The error, what caused it, and the parts of aggregates, nearest first. Bounded, as chains may be circular. By shape
 * rather than by class, since errors of other realms are no `instanceof` ours.
 */
function chainOf(error: unknown): unknown[] {
  const chain: unknown[] = [error];
  for (let at = 0; at < chain.length && chain.length < 32; at += 1) {
    const errors = fieldOf(chain[at], 'errors');
    if (Array.isArray(errors)) for (const part of errors as unknown[]) chain.push(part);
    const cause = fieldOf(chain[at], 'cause');
    if (cause !== undefined) chain.push(cause);
  }
  return chain;
}

function codeOf(link: unknown): string | undefined {
  const code = fieldOf(link, 'code');
  if (typeof code === 'string') return code;
  // undici 7.30 leaves the code of its parser errors empty.
  if (fieldOf(link, 'name') === 'HTTPParserError') return 'HTTPParserError';
  // What undici's fetch says, without a code, about ports that the Fetch standard forbids.
  return fieldOf(link, 'message') === 'bad port' ? 'bad port' : undefined;
}

function fieldOf(link: unknown, field: string): unknown {
  return typeof link === 'object' && link !== null ? (link as Record<string, unknown>)[field] : undefined;
}
