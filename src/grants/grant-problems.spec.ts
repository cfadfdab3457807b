import { describe, expect, it } from '@jest/globals';
import { ProblemError } from '../errors.js';
import { refuseOverlap, refuseTooManyPairs, refuseUnknown, refuseUnknownAgents } from './grant-problems.js';
import { nameTools } from './tool-key.js';

const wanted = nameTools('tools', [
  { connectionId: 'a', toolName: 'listed' },
  { connectionId: 'a', toolName: 'gone' },
  { connectionId: 'b', toolName: 'x' },
  { connectionId: 'a', toolName: 'held' },
]);
const listed = { provider_known: true, definition_hash: 'h', held_by_all: false };
const gone = { provider_known: true, definition_hash: null, held_by_all: false };
const strange = { provider_known: false, definition_hash: null, held_by_all: false };
const held = { provider_known: true, definition_hash: null, held_by_all: true };

function problemOf(work: () => void): ProblemError {
  try {
    work();
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('granting what does not exist', () => {
  it('is refused with every offender named', () => {
    const problem = problemOf(() => refuseUnknown(wanted, [listed, gone, strange, held]));
    expect(problem.code).toBe('grant_unknown_connection');
    expect(problem.errors?.map((error) => error.path)).toEqual(['tools[1].toolName', 'tools[2].connectionId']);
  });

  it('is about tools when all connections are known', () => {
    const problem = problemOf(() => refuseUnknown(wanted, [listed, gone, gone, held]));
    expect(problem.code).toBe('grant_unknown_tool');
    expect(problem.errors?.map((error) => error.path)).toEqual(['tools[1].toolName', 'tools[2].toolName']);
  });

  it('leaves what is listed or held alone', () => {
    expect(() => refuseUnknown(wanted, [listed, held, listed, held])).not.toThrow();
  });

  it('takes a missing fact for an unknown connection', () => {
    expect(problemOf(() => refuseUnknown(wanted, [listed])).errors).toHaveLength(3);
  });
});

describe('a request for several tools and agents', () => {
  it('may not add and remove the same tool', () => {
    const problem = problemOf(() =>
      refuseOverlap(
        wanted,
        nameTools('remove', [
          { connectionId: 'b', toolName: 'y' },
          { connectionId: 'b', toolName: 'x' },
        ]),
      ),
    );
    expect(problem.code).toBe('validation_failed');
    expect(problem.errors).toEqual([{ path: 'remove[1]', message: 'is also in add' }]);
  });

  it('may hold 1,000 pairs and no more', () => {
    expect(() => refuseTooManyPairs(10, 100)).not.toThrow();
    const problem = problemOf(() => refuseTooManyPairs(11, 91));
    expect(problem).toMatchObject({
      code: 'validation_failed',
      detail: expect.stringMatching(/1001 pairs; at most 1000/),
    });
  });

  it('names every unknown agent', () => {
    const problem = problemOf(() => refuseUnknownAgents(['a', 'x', 'b', 'y'], new Set(['a', 'b'])));
    expect(problem.code).toBe('grant_unknown_agent');
    expect(problem.errors?.map((error) => error.path)).toEqual(['agentIds[1]', 'agentIds[3]']);
  });
});
