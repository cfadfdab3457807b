import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../config.js';
import { Metrics } from '../metrics.js';
import { RateBounds } from '../rate-bounds.js';
import { MenuPlaces } from './menu.places.js';

function places(perAgent: number): { places: MenuPlaces; counted: string[] } {
  const { settings } = readConfig({ WARREN_RATE_AGENT_CALLS: String(perAgent) });
  const counted: string[] = [];
  const rates = Object.assign(new RateBounds(settings, new Metrics()), {
    count: (bound: string) => counted.push(bound),
  });
  return { places: new MenuPlaces(settings, rates), counted };
}

const rateLimited = expect.objectContaining({
  error: expect.objectContaining({ code: 'rate_limited', sent: 'no', retryable: true, retryAfterMs: 1_000 }),
});

describe('the places of the menu', () => {
  it('are bounded for each agent, and free again when a call ends', () => {
    const { places: menu, counted } = places(2);
    const first = menu.take('a');
    menu.take('a');
    expect(() => menu.take('a')).toThrow(rateLimited);
    menu.take('b');
    expect(counted).toEqual(['agent_calls']);
    first();
    menu.take('a');
    expect(() => menu.take('a')).toThrow(rateLimited);
  });

  it('are given back once', () => {
    const { places: menu } = places(2);
    const first = menu.take('a');
    menu.take('a');
    first();
    first();
    menu.take('a');
    expect(() => menu.take('a')).toThrow(rateLimited);
  });

  it('are bounded for all agents together', () => {
    const { places: menu, counted } = places(100);
    for (let count = 0; count < 10_000; count += 1) menu.take(`agent-${Math.floor(count / 100)}`);
    expect(() => menu.take('one more')).toThrow(
      expect.objectContaining({ error: expect.objectContaining({ code: 'busy' }) }),
    );
    expect(counted).toEqual([]);
  });
});
