import { describe, expect, it } from '@jest/globals';
import { nearestNames } from './nearest-names.js';

describe('nearestNames', () => {
  const names = ['create_issue', 'createIssueComment', 'list_issues', 'delete_repo', 'søk', 'echo'];

  it.each([
    ['createIssue', ['create_issue', 'createIssueComment']],
    ['create_isue', ['create_issue']],
    ['Echo', ['echo']],
    ['zzzzzz', []],
    ['', []],
  ])('%s → %j', (asked, expected) => expect(nearestNames(asked, names)).toEqual(expected));

  it('gives 5 at most', () => {
    expect(
      nearestNames(
        'tool',
        Array.from({ length: 50 }, (_, index) => `tool_${index}`),
      ),
    ).toHaveLength(5);
  });
});
