import { describe, expect, it } from '@jest/globals';
import { connectionSessions } from '../../../test/support/session-actor.js';

const perAgent = { sessionScope: 'agent' as const };
const agent = (id: string, createdAt = '2026-05-01T00:00:00.000Z') => ({ id, createdAt: new Date(createdAt) });

/** An operation that lasts until it is told to end. */
function lasting() {
  let end = (): void => undefined;
  const ended = new Promise<string>((resolve) => {
    end = () => resolve('done');
  });
  return { end, operation: () => ended };
}

describe('the sessions of a connection', () => {
  it('are not the same for two agents that bore one id after the other', async () => {
    const { opened, use, sessions } = connectionSessions();
    const [earlier, later] = [agent('a'), agent('a', '2026-05-02T00:00:00.000Z')];
    await use(earlier, perAgent);
    await use(later, perAgent);
    await use(agent('a'), perAgent);
    expect(opened).toHaveLength(2);
    expect(sessions.agents).toEqual([earlier, later]);
    await sessions.endAgent(earlier);
    expect(opened.map(({ closings }) => closings)).toEqual([1, 0]);
    expect(sessions.agents).toEqual([later]);
  });

  it('of agents do not make room for what Warren asks for itself', async () => {
    const { opened, use } = connectionSessions();
    const two = { ...perAgent, maxSessions: 2 };
    await use(agent('a'), two);
    await use(agent('b'), two);
    await use(null, two);
    expect(opened.map(({ closings }) => closings)).toEqual([0, 0, 1]);
  });

  it("make room at the cost of Warren's own first, then of the one used longest ago", async () => {
    const { opened, use } = connectionSessions();
    const two = { ...perAgent, maxSessions: 2 };
    await use(agent('a'), two);
    await use(null, two);
    await use(agent('b'), two);
    expect(opened.map(({ closings }) => closings)).toEqual([0, 1, 0]);
    await use(agent('c'), two);
    expect(opened.map(({ closings }) => closings)).toEqual([1, 1, 0, 0]);
  });

  it('are no more than allowed, also those that had ended when fewer were allowed', async () => {
    const { opened, use, sessions } = connectionSessions();
    const one = { ...perAgent, maxSessions: 1 };
    await use(agent('a'), perAgent);
    await use(agent('b'), perAgent);
    await sessions.stop();
    await use(agent('a'), one);
    await use(agent('b'), one);
    expect(opened.map(({ closings }) => closings)).toEqual([1, 1, 1, 0]);
  });

  it('are brought down to what is allowed by the next call, also of one that has a session', async () => {
    const { opened, use } = connectionSessions();
    for (const id of ['a', 'b', 'c']) await use(agent(id), perAgent);
    await use(agent('b'), { ...perAgent, maxSessions: 1 });
    expect(opened.map(({ closings }) => closings)).toEqual([1, 0, 1]);
  });

  it('make enough room when fewer are allowed than before', async () => {
    const { opened, use } = connectionSessions();
    for (const id of ['a', 'b', 'c', 'd']) await use(agent(id), perAgent);
    await use(agent('e'), { ...perAgent, maxSessions: 2 });
    expect(opened.map(({ closings }) => closings)).toEqual([1, 1, 1, 0, 0]);
  });

  it('are never taken away from a call', async () => {
    const { opened, use } = connectionSessions();
    const one = { ...perAgent, maxSessions: 1 };
    const { end, operation } = lasting();
    const running = use(agent('a'), one, operation);
    await expect(use(agent('b'), one)).rejects.toMatchObject({ kind: 'busy' });
    end();
    expect(await running).toBe('done');
    await use(agent('b'), one);
    expect(opened.map(({ closings }) => closings)).toEqual([1, 0]);
  });

  it('end up to a launch revision, and no newer ones', async () => {
    const { opened, use, sessions } = connectionSessions();
    await use(agent('a'), { ...perAgent, launchRevision: 4 });
    await use(agent('b'), { ...perAgent, launchRevision: 5 });
    expect(sessions.heldRevision).toBe(4);
    await sessions.stop(4);
    expect(opened.map(({ closings }) => closings)).toEqual([1, 0]);
    expect(sessions.heldRevision).toBe(5);
    await sessions.stop(5);
    expect(opened.map(({ closings }) => closings)).toEqual([1, 1]);
    expect(sessions.isInUse).toBe(false);
  });

  it('of one operation end by the same rule', async () => {
    const { opened, use, sessions } = connectionSessions();
    const { end, operation } = lasting();
    const running = use(agent('a'), { lifecycle: 'ephemeral', launchRevision: 5 }, operation);
    await sessions.stop(4);
    end();
    expect(await running).toBe('done');
    expect(opened.map(({ closings }) => closings)).toEqual([1]);
  });
});
