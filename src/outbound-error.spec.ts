import { describe, expect, it } from '@jest/globals';
import { classifyOutboundError, OutboundError } from './outbound-error.js';

function coded(code: string, message = 'https://u:p@h/?key=SECRET'): Error {
  return Object.assign(new Error(message), { code });
}

describe('classifyOutboundError', () => {
  it.each([
    ['ENOTFOUND', 'dns_failed', 'no'],
    ['EAI_AGAIN', 'dns_failed', 'no'],
    ['ECONNREFUSED', 'connection_refused', 'no'],
    ['EHOSTUNREACH', 'connection_unreachable', 'no'],
    ['ENETUNREACH', 'connection_unreachable', 'no'],
    ['UND_ERR_CONNECT_TIMEOUT', 'connection_timeout', 'maybe'],
    ['UND_ERR_HEADERS_TIMEOUT', 'connection_timeout', 'maybe'],
    ['UND_ERR_HEADERS_OVERFLOW', 'message_too_large', 'maybe'],
    ['UND_ERR_SOCKET', 'http_error', 'maybe'],
    ['HPE_INVALID_CONSTANT', 'http_error', 'maybe'],
    ['ECONNRESET', 'http_error', 'maybe'],
    ['Z_DATA_ERROR', 'http_error', 'maybe'],
    ['CERT_HAS_EXPIRED', 'tls_verification_failed', 'no'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_verification_failed', 'no'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_verification_failed', 'no'],
    ['SOMETHING_ELSE', 'unknown', 'maybe'],
  ])('reads %s as %s', (code, reason, sent) => {
    expect(classifyOutboundError(coded(code))).toMatchObject({ reason, sent });
  });

  it('looks through causes and aggregates', () => {
    const aggregate = new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')], 'all failed');
    const error = new TypeError('fetch failed', { cause: new Error('wrapped', { cause: aggregate }) });
    expect(classifyOutboundError(error).reason).toBe('connection_refused');
  });

  it('survives circular causes and values that are no errors', () => {
    const circular = new Error('a');
    circular.cause = circular;
    expect(classifyOutboundError(circular).reason).toBe('unknown');
    expect(classifyOutboundError(undefined).reason).toBe('unknown');
    expect(classifyOutboundError('text').reason).toBe('unknown');
  });

  it('repeats nothing of the original text', () => {
    for (const code of ['ENOTFOUND', 'WHATEVER']) {
      expect(classifyOutboundError(coded(code), undefined, 'https://h/').message).not.toMatch(/SECRET|u:p/u);
    }
  });

  it('keeps an error that is already ours, with what the caller knows about sending', () => {
    const ours = new OutboundError('egress_denied', 'no');
    expect(classifyOutboundError(new TypeError('fetch failed', { cause: ours }))).toBe(ours);
    expect(classifyOutboundError(ours, 'maybe')).toMatchObject({
      reason: 'egress_denied',
      message: 'no',
      sent: 'maybe',
    });
  });
});
