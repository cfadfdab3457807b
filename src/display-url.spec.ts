import { describe, expect, it } from '@jest/globals';
import { displayUrl } from './display-url.js';

describe('displayUrl', () => {
  it.each([
    ['https://user:pw@example.com:8443/mcp?api_key=SECRET#frag', 'https://example.com:8443/mcp'],
    ['http://example.com', 'http://example.com/'],
    ['http://[::1]:9/a/b?x', 'http://[::1]:9/a/b'],
    ['data:text/plain,SECRET', 'data:(hidden)'],
    ['SECRET', '(not a URL)'],
  ])('shows %s as %s', (url, shown) => {
    expect(displayUrl(url)).toBe(shown);
  });

  it('takes a URL object', () => {
    expect(displayUrl(new URL('http://a:b@h/p?q'))).toBe('http://h/p');
  });
});
