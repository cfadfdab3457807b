import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { HttpLaunch, StdioLaunch } from '../src/connections/connection.launch.js';
import { ProblemError } from '../src/errors.js';
import { admin } from './support/author.js';
import {
  type ConnectionsBench,
  type ConnectionsRoom,
  http,
  openConnectionsBench,
  stdio,
} from './support/connections-bench.js';
import { verifyCount } from './support/verify-count.js';

/** Sequences of changes for each transport; half of all. */
const SEQUENCES = verifyCount(25, 25);
const SEED = 12;
const URL = 'https://a.example/mcp';

let bench: ConnectionsBench;
let room: ConnectionsRoom;

beforeAll(async () => {
  bench = await openConnectionsBench();
  room = bench.room();
});

afterAll(() => bench.close());

interface Entry {
  name: string;
  value?: string;
}

/** What is stored of one list, in its order. */
type Stored = [name: string, value: string][];

const value = fc.stringMatching(/^[A-Za-z0-9 ]{9,20}$/).map((text) => `v${text}v`);
const entries = (...names: string[]): fc.Arbitrary<Entry[]> =>
  fc.uniqueArray(fc.record({ name: fc.constantFrom(...names), value }, { requiredKeys: ['name'] }), {
    selector: ({ name }) => name,
    maxLength: names.length,
  });

/** The rules of a list in words of their own: it replaces the set, and without a value the stored one stays. */
function replaced(stored: Stored, given: readonly Entry[] | undefined): Stored | 'value missing' {
  if (given === undefined) return stored;
  const next: Stored = [];
  for (const entry of given) {
    const kept = stored.find(([name]) => name === entry.name)?.[1];
    const held = entry.value ?? kept;
    if (held === undefined) return 'value missing';
    next.push([entry.name, held]);
  }
  return next;
}

/** Runs a change; true when it was refused because a value is missing. */
async function isRefused(change: () => Promise<unknown>): Promise<boolean> {
  try {
    await change();
    return false;
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'secret_value_required') return true;
    throw error;
  }
}

let number = 0;
const nextId = (): string => `c${(number += 1)}`;

describe('sequences of secret updates', () => {
  it(
    `keep what a simple model keeps, over HTTP (${SEQUENCES})`,
    async () => {
      const change = fc.record(
        {
          apiKey: fc.option(fc.oneof(value, fc.constant(''))),
          headers: entries('x-a', 'x-b', 'x-c'),
          queryParameters: entries('a', 'b', 'c'),
        },
        { requiredKeys: [] },
      );
      let refused = 0;
      const sequence = fc.array(change, { minLength: 2, maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(sequence, async (changes) => {
          const id = nextId();
          await room.changes.create(admin, http(id, { id, baseUrl: URL }));
          let [apiKey, headers, query]: [string | undefined, Stored, Stored] = [undefined, [], []];
          for (const body of changes) {
            const nextHeaders = replaced(headers, body.headers);
            const nextQuery = replaced(query, body.queryParameters);
            const mayNot = nextHeaders === 'value missing' || nextQuery === 'value missing';
            expect(await isRefused(() => room.changes.change(admin, id, body))).toBe(mayNot);
            if (mayNot) {
              refused += 1;
            } else {
              [headers, query] = [nextHeaders, nextQuery];
              if (body.apiKey === null) apiKey = undefined;
              else if (body.apiKey !== undefined && body.apiKey !== '') ({ apiKey } = body);
            }
            const endpoint = (await room.connections.launchOf(id))?.endpoint as HttpLaunch;
            const { Authorization: authorization, ...others } = endpoint.headers;
            expect(authorization).toBe(apiKey === undefined ? undefined : `Bearer ${apiKey}`);
            expect(Object.entries(others)).toEqual(headers);
            const shown = query.map(([name, held]) => `${name}=${encodeURIComponent(held)}`).join('&');
            expect(endpoint.url).toBe(shown === '' ? URL : `${URL}?${shown}`);
          }
        }),
        { numRuns: SEQUENCES, seed: SEED },
      );
      process.stdout.write(
        `secret updates over HTTP, seed ${SEED}: ${SEQUENCES} sequences, ${refused} changes refused, 0 divergences\n`,
      );
      expect(refused).toBeGreaterThan(0);
    },
    60_000 + SEQUENCES * 200,
  );

  it(
    `keep what a simple model keeps, over stdio (${SEQUENCES})`,
    async () => {
      const args = fc.uniqueArray(
        fc.oneof(
          fc.constantFrom('--plain', '-x').map((text) => ({ text, name: `"${text}` })),
          fc.record({ name: fc.constantFrom('s', 't', 'u'), value }, { requiredKeys: ['name'] }),
        ),
        { selector: ({ name }) => name, maxLength: 5 },
      );
      const change = fc.record({ environmentVariables: entries('A', 'B', 'C'), args }, { requiredKeys: [] });
      let refused = 0;
      const sequence = fc.array(change, { minLength: 2, maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(sequence, async (changes) => {
          const id = nextId();
          await room.changes.create(admin, stdio(id, { id, args: [] }));
          let [environment, secretArgs, line]: [Stored, Stored, (string | { name: string })[]] = [[], [], []];
          for (const { args: given, environmentVariables } of changes) {
            const secrets = given?.flatMap((one): Entry[] => ('text' in one ? [] : [one]));
            const nextEnvironment = replaced(environment, environmentVariables);
            const nextArgs = replaced(secretArgs, secrets);
            const mayNot = nextEnvironment === 'value missing' || nextArgs === 'value missing';
            const body = {
              ...(environmentVariables === undefined ? {} : { environmentVariables }),
              ...(given === undefined
                ? {}
                : {
                    args: given.map((one) =>
                      'text' in one
                        ? one.text
                        : { secret: one.name, ...(one.value === undefined ? {} : { value: one.value }) },
                    ),
                  }),
            };
            expect(await isRefused(() => room.changes.change(admin, id, body))).toBe(mayNot);
            if (mayNot) {
              refused += 1;
            } else {
              [environment, secretArgs] = [nextEnvironment, nextArgs];
              if (given !== undefined) line = given.map((one) => ('text' in one ? one.text : { name: one.name }));
            }
            const endpoint = (await room.connections.launchOf(id))?.endpoint as StdioLaunch;
            expect(Object.entries(endpoint.environment)).toEqual(environment);
            const held = new Map(secretArgs);
            expect(endpoint.args).toEqual(line.map((one) => (typeof one === 'string' ? one : held.get(one.name))));
          }
        }),
        { numRuns: SEQUENCES, seed: SEED },
      );
      process.stdout.write(
        `secret updates over stdio, seed ${SEED}: ${SEQUENCES} sequences, ${refused} changes refused, 0 divergences\n`,
      );
      expect(refused).toBeGreaterThan(0);
    },
    60_000 + SEQUENCES * 200,
  );
});
