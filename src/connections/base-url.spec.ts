import { describe, expect, it } from '@jest/globals';
import { baseUrlProblem, secretLookingParameters, withQueryParameters } from './base-url.js';

describe('baseUrlProblem', () => {
  it.each([
    'https://a.example',
    'http://127.0.0.1:8080/mcp?x=1&y=%20',
    'HTTPS://A.example/',
    'http://[::1]:3000/mcp',
    'https://a.example/@scope/x?mail=a@b',
  ])('takes %s', (url) => {
    expect(baseUrlProblem(url)).toBeUndefined();
  });

  it.each([
    'a.example/mcp',
    '/mcp',
    'ftp://a.example',
    'file:///etc/passwd',
    'https:a.example',
    'https://',
    'https:///a',
    'https://a.example:99999',
    'https://user@a.example',
    'https://user:pass@a.example',
    'https://:@a.example',
    'https://@a.example',
    'https://a.example/#part',
    'https://a.example/#',
    'https://a.exa\nmple',
    ' https://a.example',
    'https://a.example/a b',
    'https://a.example/\ud800',
  ])('refuses %j', (url) => {
    expect(baseUrlProblem(url)).toBeDefined();
  });
});

describe('withQueryParameters', () => {
  it.each<[string, [string, string][], string]>([
    ['https://a.example/mcp', [], 'https://a.example/mcp'],
    ['https://a.example/mcp', [['key', 'a b&c=d#e/é']], 'https://a.example/mcp?key=a%20b%26c%3Dd%23e%2F%C3%A9'],
    [
      'https://a.example/mcp?x=a+b%20c',
      [
        ['k', '1'],
        ['l', '2'],
      ],
      'https://a.example/mcp?x=a+b%20c&k=1&l=2',
    ],
  ])('adds to %s %j', (url, parameters, expected) => {
    expect(withQueryParameters(url, parameters)).toBe(expected);
  });
});

describe('secretLookingParameters', () => {
  it('names the ones that look like secrets', () => {
    expect(secretLookingParameters('https://a.example?apiKey=1&access_token=2&page=3&apiKey=4')).toEqual([
      'apiKey',
      'access_token',
    ]);
  });
});
