import { describe, expect, it } from '@jest/globals';
import { familyOf } from './process-family.js';
import type { ProcessFacts } from './process-table.js';

const OURS = 'i,1,10,7';
const HEAD = { pid: 100, start: '1000', marker: OURS };

const facts = (pid: number, parent: number, start: number, marker?: string): ProcessFacts => ({
  pid,
  parent,
  group: pid,
  start: String(start),
  marker,
});

describe('the family of a process', () => {
  const init = facts(1, 0, 1);
  const warren = facts(50, 1, 500);
  const head = facts(100, 50, 1000, OURS);

  it.each<{ what: string; others: ProcessFacts[]; found: number[] }>([
    { what: 'its child', others: [facts(101, 100, 1001, OURS)], found: [101] },
    { what: 'a daemon of it, whose parent left', others: [facts(101, 1, 1001, OURS)], found: [101] },
    { what: 'a child without its environment', others: [facts(101, 100, 1001)], found: [101] },
    {
      what: 'the descendants of such ones, however deep and in whatever order',
      others: [facts(104, 103, 1004), facts(103, 101, 1003), facts(101, 1, 1001, OURS), facts(102, 101, 1002)],
      found: [101, 102, 103, 104],
    },
    { what: 'not a later launch of the same server', others: [facts(101, 50, 1001, 'i,1,10,77')], found: [] },
    { what: 'not the launch of another server', others: [facts(101, 50, 1001, 'j,1,10,7')], found: [] },
    { what: 'not what has no marker', others: [facts(101, 1, 1001), facts(102, 50, 1001)], found: [] },
    {
      what: 'not one that was there before its parent: that id was used again',
      others: [facts(101, 1, 1005, OURS), facts(102, 101, 1003)],
      found: [101],
    },
  ])('includes $what', ({ others, found }) => {
    for (const table of [
      [init, warren, head, ...others],
      [...others, head, warren, init],
    ]) {
      const family = familyOf(table, HEAD).map(({ pid }) => pid);
      expect(family.toSorted((a, b) => a - b)).toEqual([100, ...found]);
    }
  });

  it('is what carries its marker once it has left', () => {
    const table = [init, warren, facts(101, 1, 1001, OURS), facts(102, 101, 1002), facts(103, 1, 1002)];
    expect(familyOf(table, HEAD).map(({ pid }) => pid)).toEqual([101, 102]);
  });

  it('is not that of another process with its id', () => {
    expect(familyOf([init, warren, facts(100, 50, 1010), facts(101, 100, 1011)], HEAD)).toEqual([]);
  });

  it('without a marker is what descends from it', () => {
    const unmarked = { ...HEAD, marker: undefined };
    const table = [init, warren, facts(100, 50, 1000), facts(101, 100, 1001), facts(102, 1, 1001)];
    expect(familyOf(table, unmarked).map(({ pid }) => pid)).toEqual([100, 101]);
  });

  it('is nobody where the system shows no processes', () => {
    expect(familyOf([], { pid: 100, start: undefined, marker: OURS })).toEqual([]);
  });
});
