import { describe, expect, it } from '@jest/globals';
import { PresentedTokens } from './presented-tokens.js';
import { createToken } from './token.js';

describe('a presented token', () => {
  it('is masked, whole', () => {
    const { token } = createToken('agent');
    const redactor = new PresentedTokens().redactorOf(token);
    expect(redactor.text(`a ${token} b`).text).toBe('a [redacted] b');
  });

  it('is masked by its signature when it is a JWT, also when the rest of it stands elsewhere', () => {
    const signature = 'c2lnbmF0dXJlLW9mLWEtdG9rZW4';
    const redactor = new PresentedTokens().redactorOf(`eyJhbGciOiJSUzI1NiJ9.eyJhZ2VudCI6Im93biJ9.${signature}`);
    expect(redactor.text(`eyJhbGciOiJSUzI1NiJ9.eyJhZ2VudCI6Im93biJ9.${signature}`).text).toBe('[redacted]');
    expect(redactor.text(`signed ${signature}`).text).toBe('signed [redacted]');
    expect(redactor.text('eyJhZ2VudCI6Im93biJ9').count).toBe(0);
  });
});
