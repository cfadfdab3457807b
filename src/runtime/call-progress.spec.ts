import { describe, expect, it } from '@jest/globals';
import { boundedProgress } from './call-progress.js';
import { Redactor } from '../redactor.js';
import type { MenuProgress } from './menu.caller.js';

describe('bounded progress', () => {
  it('passes a burst of 100, then 20 a second, and saves up no more than a burst', () => {
    let now = 0;
    const sent: MenuProgress[] = [];
    const send = boundedProgress(
      (progress) => sent.push(progress),
      Redactor.empty,
      () => now,
    );
    const flood = (): number => {
      const before = sent.length;
      for (let progress = 0; progress < 1_000; progress += 1) send({ progress });
      return sent.length - before;
    };
    expect(flood()).toBe(100);
    now += 1_000;
    expect(flood()).toBe(20);
    now += 3_600_000;
    expect(flood()).toBe(100);
  });

  it('cuts long messages between characters and leaves out what is absent', () => {
    const sent: MenuProgress[] = [];
    const send = boundedProgress((progress) => sent.push(progress), Redactor.empty);
    send({ progress: 1, total: 2, message: `${'x'.repeat(1_999)}😀` });
    send({ progress: 2 });
    expect(sent).toEqual([{ progress: 1, total: 2, message: 'x'.repeat(1_999) }, { progress: 2 }]);
  });

  it('masks before it cuts, and leaves out a message too long to be read', () => {
    const secret = 'correct-horse-battery';
    const sent: MenuProgress[] = [];
    const send = boundedProgress((progress) => sent.push(progress), new Redactor([secret]));
    send({ progress: 1, message: `${'x'.repeat(1_990)}${secret}` });
    send({ progress: 2, message: `${'x'.repeat(65_536)}${secret}` });
    expect(sent[0]?.message).toHaveLength(2_000);
    expect(sent[0]?.message).not.toContain('correct');
    expect(sent[1]).toEqual({ progress: 2 });
  });

  it('leaves out what tells a secret of digits as a number', () => {
    const sent: MenuProgress[] = [];
    const send = boundedProgress((progress) => sent.push(progress), new Redactor(['1234567890']));
    send({ progress: 1_234_567_890 });
    send({ progress: 1, total: 1_234_567_890 });
    send({ progress: 2, total: 3 });
    expect(sent).toEqual([{ progress: 2, total: 3 }]);
  });
});
