import { describe, expect, it } from '@jest/globals';
import { Redactor } from '../redactor.js';
import { previewOf } from './preview.js';

describe('previewOf', () => {
  it('never cuts a surrogate pair in two', () => {
    for (let length = 0; length < 12; length += 1) {
      const preview = previewOf(`${'x'.repeat(length)}😀😀😀`, Redactor.empty, 8) ?? '';
      expect(preview.isWellFormed()).toBe(true);
    }
  });

  it('masks before it cuts', () => {
    expect(previewOf('a secret-value-1 b', new Redactor(['secret-value-1']), 10)).not.toContain('secret-val');
  });

  it('can be switched off', () => expect(previewOf({ a: 1 }, Redactor.empty, 0)).toBeNull());
});
