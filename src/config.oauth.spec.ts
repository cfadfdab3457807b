import { describe, expect, it } from '@jest/globals';
import { readConfig } from './config.js';
import { metadataUrls } from './oauth.key-source.js';
import { oauthSettings } from './oauth.settings.js';

const COMPLETE = {
  WARREN_OAUTH_ISSUER: 'https://login.example/tenant',
  WARREN_OAUTH_AUDIENCE: 'https://warren.example/mcp',
  WARREN_OAUTH_AGENT_CLAIM: 'https://example.com/agent',
};

describe('the OAuth settings', () => {
  it('are none unless they are set', () => {
    expect(oauthSettings(readConfig({}).settings)).toBeUndefined();
  });

  it('are read together', () => {
    expect(oauthSettings(readConfig(COMPLETE).settings)).toEqual({
      issuer: COMPLETE.WARREN_OAUTH_ISSUER,
      audience: COMPLETE.WARREN_OAUTH_AUDIENCE,
      agentClaim: COMPLETE.WARREN_OAUTH_AGENT_CLAIM,
      jwksUrl: undefined,
      algorithms: ['RS256', 'ES256'],
      challenge: 'Bearer resource_metadata="https://warren.example/.well-known/oauth-protected-resource/mcp"',
    });
  });

  it.each(Object.keys(COMPLETE))('are refused without %s, which is named', (missing) => {
    expect(() => readConfig({ ...COMPLETE, [missing]: '' })).toThrow(new RegExp(`${missing} is missing`));
  });

  it.each(['WARREN_OAUTH_JWKS_URL', 'WARREN_OAUTH_ALGORITHMS'])('are not only %s', (name) => {
    const value = name.endsWith('URL') ? 'https://a.example/keys' : 'RS256';
    expect(() => readConfig({ [name]: value })).toThrow(/WARREN_OAUTH_ISSUER is missing.*WARREN_OAUTH_AUDIENCE/s);
  });

  it.each([
    ['WARREN_OAUTH_ISSUER', 'http://login.example'],
    ['WARREN_OAUTH_ISSUER', 'login.example'],
    ['WARREN_OAUTH_AUDIENCE', 'api://warren'],
    ['WARREN_OAUTH_AUDIENCE', 'https://warren.example/mcp#a'],
    ['WARREN_OAUTH_JWKS_URL', 'https://user:secret-word@a.example/keys'],
    ['WARREN_OAUTH_ALGORITHMS', 'HS256'],
    ['WARREN_OAUTH_ALGORITHMS', 'RS256,none'],
    ['WARREN_OAUTH_ALGORITHMS', ','],
    ['WARREN_OAUTH_AGENT_CLAIM', 'aud'],
  ])('do not take %s=%s', (name, value) => {
    expect(() => readConfig({ ...COMPLETE, [name]: value })).toThrow(name);
    expect(() => readConfig({ ...COMPLETE, [name]: value })).not.toThrow(/secret-word/);
  });

  it('look for the metadata of an issuer where it may be', () => {
    expect(metadataUrls('https://a.example')).toEqual([
      'https://a.example/.well-known/oauth-authorization-server',
      'https://a.example/.well-known/openid-configuration',
    ]);
    expect(metadataUrls('https://a.example/t/')).toEqual([
      'https://a.example/.well-known/oauth-authorization-server/t',
      'https://a.example/.well-known/openid-configuration/t',
      'https://a.example/t/.well-known/openid-configuration',
    ]);
  });
});
