import { describe, expect, it } from '@jest/globals';
import { ConfigError, readConfig } from './config.js';
import { variables } from './config.variables.js';

describe('readConfig', () => {
  it('gives defaults for an empty environment', () => {
    const { settings } = readConfig({});
    expect(settings).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 8080,
      WARREN_IDLE_SECONDS: 600,
      WARREN_MAX_PROCESSES: 128,
    });
    expect(settings.DATABASE_URL).toBeUndefined();
  });

  it('names every problem at once', () => {
    const bad = { PORT: 'x', WARREN_STDIO: 'maybe', WARREN_TYPO: '1', DATABASE_URL: 'mysql://a' };
    let problems = '';
    try {
      readConfig(bad);
    } catch (error) {
      problems = error instanceof ConfigError ? error.problems.join('\n') : '';
    }
    for (const name of Object.keys(bad)) expect(problems).toContain(name);
  });

  it('ignores WARREN_CHILD and other names', () => {
    expect(() => readConfig({ WARREN_CHILD: 'x', WARRENTY: '1', FOO: 'bar' })).not.toThrow();
  });

  it('masks secrets and says where each value came from', () => {
    const { effective } = readConfig({ DATABASE_URL: 'postgres://u:topsecret@h/db', PORT: '9' });
    const database = effective.find(({ name }) => name === 'DATABASE_URL');
    expect(database).toMatchObject({ value: '********', source: 'environment' });
    expect(JSON.stringify(effective)).not.toContain('topsecret');
    expect(effective.find(({ name }) => name === 'PORT')).toMatchObject({ value: '9', source: 'environment' });
    expect(effective.find(({ name }) => name === 'HOST')).toMatchObject({ source: 'default' });
    expect(effective).toHaveLength(Object.keys(variables).length);
  });

  it('refuses two keyrings', () => {
    expect(() => readConfig({ WARREN_SECRET_KEYS: 'a', WARREN_SECRET_KEYS_FILE: 'b' })).toThrow(/both set/);
  });
});
