import { describe, expect, it } from '@jest/globals';
import { childMarker, markerOf, parseChildMarker } from './child-marker.js';
import { Instance } from './instance.js';

const owner = { instanceId: 'instance', ownerPid: 12, ownerStart: '345' };

describe('the marker of a child', () => {
  it('tells its owner, whichever launch it is of', () => {
    expect(childMarker(owner, 7)).toBe('instance,12,345,7');
    expect(parseChildMarker(childMarker(owner, 7))).toEqual(owner);
  });

  it('is read without a launch, as earlier versions set it', () => {
    expect(parseChildMarker('instance,12,345')).toEqual(owner);
  });

  it.each(['', 'instance', 'instance,12', 'instance,12,x', 'instance,12,345,', 'instance,12,345,7,8', 'a,b,12,345'])(
    'is not %j',
    (text) => {
      expect(parseChildMarker(text)).toBeUndefined();
    },
  );

  it('is another for each launch', () => {
    const instance = new Instance();
    const markers = [instance.nextChildMarker(), instance.nextChildMarker()];
    expect(new Set(markers).size).toBe(2);
    for (const marker of markers) {
      expect(parseChildMarker(marker)).toMatchObject({ instanceId: instance.id, ownerPid: process.pid });
    }
  });

  it('is none of a process that is not there', () => {
    expect(markerOf(2 ** 30)).toBeUndefined();
  });
});
